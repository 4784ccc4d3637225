import { EventEmitter, once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { rowGuard } from '@secrets/access';
import { writePolicy } from '@secrets/access/testing';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { silentLogger } from '@secrets/telemetry';
import { Listener, type SeenEvent } from '../../src/changes/events/listener.ts';
import { SecretEventFeed } from '../../src/changes/events/secret-event-feed.ts';
import { parseSubscription } from '../../src/changes/events/subscription.ts';
import { useSecrets } from '../secrets-for-test.ts';

const secrets = useSecrets();
const responses: FakeResponse[] = [];

/** A response that remembers what is written to it. */
class FakeResponse extends EventEmitter {
  text = '';
  writableLength = 0;
  writableEnded = false;
  destroyed = false;
  write(text: string): void {
    this.text += text;
  }
  end(): void {
    this.writableEnded = true;
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  get versions(): string[] {
    return [...this.text.matchAll(/"current_version":"(\d+)"/g)].map(([, version]) => version!);
  }
}

const openFeed = () =>
  new SecretEventFeed({
    db: secrets.db,
    backgroundDb: secrets.db,
    rows: rowGuard(undefined),
    log: silentLogger(),
  });

const all = parseSubscription('*', { json: 'true' });

/** Other tests fill large databases on the same server, each in one transaction, which delays the events. */
const longestMs = 240_000;

async function listenTo(feed: SecretEventFeed, caller: Partial<Caller> = {}): Promise<FakeResponse> {
  const response = new FakeResponse();
  (await openLater(feed, testCaller(caller)))(response as unknown as ServerResponse);
  responses.push(response);
  return response;
}

/** Opens, once older transactions have ended. */
async function openLater(feed: SecretEventFeed, caller: Caller, since = performance.now()) {
  try {
    return await feed.open(caller, all);
  } catch (problem) {
    const isRetried =
      (problem as { kind?: string }).kind === 'unavailable' && performance.now() - since < longestMs;
    if (!isRetried) throw problem;
    return openLater(feed, caller, since);
  }
}

afterEach(() => {
  for (const response of responses.splice(0)) response.end();
});

const write = (name: string) => secrets.call('POST', `/kv/data/${name}`, { data: { k: 'canary' } });

async function advanceUntil(feeds: SecretEventFeed[], isDone: () => boolean): Promise<void> {
  const since = performance.now();
  while (!isDone() && performance.now() - since < longestMs) {
    await Promise.all(feeds.map((feed) => feed.advance()));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('each of several processes sends each event once', async () => {
  const feeds = [openFeed(), openFeed()];
  const listeners = await Promise.all([...feeds, ...feeds].map((feed) => listenTo(feed)));
  for (let at = 0; at < 5; at += 1) await write('shared');
  await advanceUntil(feeds, () => listeners.every(({ versions }) => versions.length >= 5));
  for (const { versions } of listeners) expect(versions).toEqual(['1', '2', '3', '4', '5']);
});

test('an event is not sent before its transaction commits, and later ones wait for it', async () => {
  const feed = openFeed();
  const listener = await listenTo(feed);
  const [inserted, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const older = secrets.db.transaction(async (tx) => {
    await tx.query(
      `insert into secrets.events (kind, mount_id, path, current_version)
       select 'data-write', id, 'open', 7 from secrets.mounts where path = 'kv'`,
    );
    inserted.resolve();
    await committed.promise;
  });
  await inserted.promise;
  await write('later');
  for (let at = 0; at < 3; at += 1) await feed.advance();
  expect(listener.versions).toEqual([]);
  committed.resolve();
  await older;
  await advanceUntil([feed], () => listener.versions.length >= 2);
  expect(listener.versions).toEqual(['7', '1']);
});

test('nothing is recorded while nobody listens', async () => {
  await secrets.db.query(`update secrets.event_listening set until = now() - interval '1 second'`);
  const count = async () =>
    (await secrets.db.query<{ count: string }>('select count(*)::text as count from secrets.events'))[0]!
      .count;
  const before = await count();
  await write('unheard');
  expect(await count()).toBe(before);
  await listenTo(openFeed());
  await write('unheard');
  expect(await count()).toBe(String(Number(before) + 1));
});

test('listeners connect again if changes were not recorded for a while', async () => {
  const feed = openFeed();
  const listener = await listenTo(feed);
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now');
  try {
    clock.mockReturnValue(now + 59_000);
    await feed.keepAlive();
    clock.mockReturnValue(now + 118_000);
    await feed.keepAlive();
    expect(listener.writableEnded).toBe(false);
    clock.mockReturnValue(now + 180_000);
    await feed.keepAlive();
    expect(listener.writableEnded).toBe(true);
  } finally {
    clock.mockRestore();
  }
});

test('old events are deleted', async () => {
  await secrets.db.query(`update secrets.events set at = now() - interval '3 minutes'`);
  await openFeed().sweep(() => false);
  expect(await secrets.db.query('select from secrets.events')).toEqual([]);
});

test('a namespace has a limited number of listeners, and each that leaves makes room', async () => {
  const feed = openFeed();
  const opened = await Promise.all(Array.from({ length: 500 }, () => listenTo(feed)));
  await expect(listenTo(feed)).rejects.toMatchObject({ kind: 'rate_limited' });
  opened[0]!.end();
  await listenTo(feed);
});

test('a listener that has left before it could begin takes up no room', async () => {
  const feed = openFeed();
  const begin = () => feed.open(testCaller(), all);
  await listenTo(feed); // from here on, no transaction is older
  for (let at = 0; at < 500; at += 1) {
    const gone = new FakeResponse();
    gone.destroy();
    (await begin())(gone as unknown as ServerResponse);
  }
  await begin();
});

test('listeners connect again if an older transaction is running for so long that events may have been deleted', async () => {
  const feed = openFeed();
  const listener = await listenTo(feed);
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const older = secrets.db.transaction(async (tx) => {
    await tx.query('select pg_current_xact_id()');
    begun.resolve();
    await ended.promise;
  });
  await begun.promise;
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now');
  try {
    for (const seconds of [0, 50, 60]) {
      await write('missed');
      clock.mockReturnValue(now + seconds * 1_000);
      await feed.advance();
      expect(listener.writableEnded).toBe(seconds === 60);
    }
  } finally {
    clock.mockRestore();
    ended.resolve();
    await older;
  }
});

test('policies that take long decide once about each event, however many listen with them', async () => {
  const folders = (one: string) => `${one}/`.repeat(28);
  const rules = Array.from({ length: 500 }, (_, at) => [`kv/data/${folders('+')}x${at}`, ['read'] as const]);
  await writePolicy(secrets.db, 'slow', { ...Object.fromEntries(rules), 'kv/metadata/*': ['read'] });
  const feed = openFeed();
  const listeners: FakeResponse[] = [];
  for (let at = 0; at < 400; at += 1) listeners.push(await listenTo(feed, { policies: ['slow'] }));
  await secrets.db.query(
    `insert into secrets.events (kind, mount_id, path, current_version)
     select 'data-write', id, $1, n from secrets.mounts, generate_series(1, 499) n where path = 'kv'`,
    [`${folders('a')}y`],
  );
  const before = process.threadCpuUsage();
  await advanceUntil([feed], () => listeners.every(({ versions }) => versions.length === 499));
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_500_000);
}, 300_000);

test('a listener that does not read is cut off, with a bounded number of bytes in memory', async () => {
  let mostBytes = 0;
  const cutOff = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.writeHead(200);
    response.once('close', () => cutOff.resolve());
    const caller = testCaller();
    const listener = new Listener(response, {
      audience: undefined as never,
      caller,
      subscription: all,
      begin: { xid: 0n, id: 0n },
    });
    const namespaceId = caller.namespace.id;
    const row = { xid: '1', kind: 'data-write', namespaceId, namespacePath: '' } as SeenEvent['row'];
    const event = { row, text: 'a'.repeat(2_500) };
    const timer = setInterval(() => {
      for (let at = 0; at < 100; at += 1) listener.send([event]);
      mostBytes = Math.max(mostBytes, response.writableLength);
      if (response.destroyed) clearInterval(timer);
    }, 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sent = request({ port: (server.address() as AddressInfo).port });
  sent.end();
  const [response] = await once(sent, 'response');
  response.on('error', () => undefined);
  await cutOff.promise;
  sent.destroy();
  expect(mostBytes).toBeGreaterThan(0);
  expect(mostBytes).toBeLessThan(1_100_000);
  server.close();
});
