import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import type { ProcessName } from '../../harness/distributed.ts';
import { EventClient } from '../../harness/event-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { client, expectStatus } from '../../harness/http.ts';
import { isLongRun } from '../../harness/run-size.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import type { Suite } from '../describe-distributed.ts';

/** A short run stops the gateway alone, which all streams pass. */
const stopped: ProcessName[] = ['gateway', 'sync-control', 'sync-control-2'];
const inTime = { code: 0, signal: null };

export function streamsOfEvents(suite: Suite): void {
  const api = () => client(suite.system.url, suite.system.rootToken);
  const follow = async (lastEventId?: string): Promise<EventClient> => {
    const following = {
      token: suite.system.rootToken,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    };
    const open = () => EventClient.open(suite.system.url, following).catch(() => undefined);
    const isOpen = (opened: EventClient | undefined) => opened?.status === 200;
    return (await eventually(open, isOpen)) as EventClient;
  };
  const kindsOf = ({ events }: EventClient) =>
    events.filter(({ kind }) => kind !== 'open').map(({ id, kind }) => `${kind} ${id}`);
  const sinceCreation = (kinds: string[]) => {
    const first = kinds.findIndex((kind) => kind.startsWith('destination_created '));
    return first < 0 ? [] : kinds.slice(first);
  };

  test('every replica sends the same events, in the same order', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => follow()));
    await Promise.all(clients.map((one) => one.received(({ kind }) => kind === 'open')));
    const at = await SyncFixture.create({ api: api(), sandbox: suite.sandbox });
    await at.sync('a', { k: 'v' });
    await Promise.all(clients.map((one) => one.received(({ sync_status: status }) => status === 'SYNCED')));
    // Clients that open while earlier work ends start at different events.
    const received = async () => clients.map(kindsOf).map(sinceCreation);
    // An event of later work can still be on its way to some of them.
    const [first = []] = await eventually(received, ([first, ...others]) =>
      others.every((other) => isDeepStrictEqual(other, first)),
    );
    expect(first.length).toBeGreaterThan(3);
    for (const one of clients) one.close();
  });

  test.each(isLongRun ? stopped : stopped.slice(0, 1))(
    'a %s that stops ends its streams and exits in time; the clients miss nothing',
    async (name) => {
      const clients = await Promise.all(Array.from({ length: 4 }, () => follow()));
      await Promise.all(clients.map((one) => one.received(({ kind }) => kind === 'open')));
      const stopping = suite.system.processes[name].stop();
      await eventually(
        async () => clients.filter(({ hasEnded }) => hasEnded).length,
        (ended) => ended > 0,
        9_000, // less than it waits for responses
      );
      expect(await stopping).toMatchObject(inTime);
      await suite.system.processes[name].start();
      const write = () => api()('PATCH', 'sys/sync/config', { disabled: true });
      const written = await eventually(
        () => write().catch(() => ({ status: 0, body: undefined })),
        ({ status }) => status === 200,
      );
      expectStatus(written, 200);
      for (const { hasEnded, lastId } of clients) {
        if (!hasEnded) continue;
        const again = await follow(lastId);
        await again.received(({ kind }) => kind === 'sync_disabled');
        again.close();
      }
      expectStatus(await api()('PATCH', 'sys/sync/config', { disabled: false }), 200);
      for (const one of clients) one.close();
    },
  );
}
