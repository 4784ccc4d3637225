import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { Fault, Problem, syncQueue } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { requestPut } from '@secrets/sync-entries';
import { createLogger, type Logger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import { Attempts } from '../src/limits/attempts.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();

type Put = ConnectedDestination['put'];

interface WorkerOptions {
  keyRing?: KeyRing;
  db?: Db;
  log?: Logger;
  leaseSeconds?: number;
  largeValuesMib?: number;
  concurrency?: number;
}

/** Runs a worker with this `put` on the entries until `isDone`. */
async function runWorker(
  entryIds: readonly string[],
  put: Put,
  isDone: () => boolean | Promise<boolean>,
  { leaseSeconds = 60, largeValuesMib = 16, concurrency = 16, ...deps }: WorkerOptions = {},
): Promise<void> {
  const connected = emptyStore({ put });
  const worker = createSyncWorker(
    { type: destinationType, connect: async () => connected },
    { ...depsOfWorker(), ...deps },
    { concurrency, leaseSeconds, prefix: 'secrets', stopGraceSeconds: 0.1, largeValuesMib },
  );
  await worker.start();
  await broker.publish(
    syncQueue(destinationType),
    entryIds.map((entry_id) => ({ entry_id, destination_id: entry_id })),
  );
  await eventually(isDone);
  await worker.stop();
}

test('the keys of one version are decrypted together, however many there are', async () => {
  const data = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, `v${index}`]));
  const entryIds = await insertSyncedSecret(db, keyRing, data);
  const pushed: Record<string, string> = {};
  let lookups = 0;
  const counting: KeyRing = {
    current: keyRing.current,
    keys: keyRing.keys,
    find: (id) => {
      lookups += 1;
      return keyRing.find(id);
    },
  };
  const put: Put = async ({ externalName, value }) => {
    pushed[externalName] = value.reveal();
    return { remote: null };
  };
  await runWorker(entryIds, put, () => Object.keys(pushed).length === 200, { keyRing: counting });
  expect(pushed).toEqual(data);
  expect(lookups).toBeLessThan(200 + 20); // each hash of a pushed value looks up a key, and each decryption
});

test('large values are pushed within the limit of their memory, and do not hold up small ones', async () => {
  const large = await Promise.all(
    Array.from({ length: 5 }, () => insertSyncedSecret(db, keyRing, { a: 'x'.repeat(600_000) })),
  );
  const [small] = await insertSyncedSecret(db, keyRing, { a: '1' });
  const pushed: string[] = [];
  let held = 0;
  let peakHeld = 0;
  const put: Put = async ({ entryId, value }) => {
    const isLarge = value.reveal().length > 100_000;
    if (isLarge) {
      peakHeld = Math.max(peakHeld, ++held);
      await eventually(() => pushed.includes(small!), { timeoutMs: 20_000 });
      await sleep(100); // for another large value to be read, if it may be
      held -= 1;
    }
    pushed.push(entryId);
    return { remote: null };
  };
  await runWorker([...large.flat(), small!], put, () => pushed.length === 6, { largeValuesMib: 1 });
  expect(peakHeld).toBe(1);
  expect(pushed[0]).toBe(small);
});

const stateOf = (entryIds: readonly string[]) =>
  db.query<{ id: string; isLeased: boolean; isDue: boolean; attempts: number }>(
    `select id, lease_owner is not null as "isLeased", due_at is not null as "isDue", attempts from sync.entries
      where id = any($1::uuid[]) order by attempts`,
    [entryIds],
  );
const areLeased = async (entryIds: readonly string[]) =>
  (await stateOf(entryIds)).every(({ isLeased }) => isLeased);

test('an entry is claimed while another one is pushed, and not pushed if that one pauses the destination', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1', b: '2' });
  const called: string[] = [];
  const put: Put = async ({ entryId }) => {
    called.push(entryId);
    await eventually(() => areLeased(entryIds));
    throw new Fault('unavailable', 'expected in this test');
  };
  const areReleased = async () =>
    (await stateOf(entryIds)).every(({ isLeased, isDue }) => !isLeased && isDue);
  await runWorker(entryIds, put, async () => called.length > 0 && (await areReleased()), { concurrency: 1 });
  expect(called).toHaveLength(1);
  expect(await stateOf(entryIds)).toMatchObject([{ attempts: 0 }, { attempts: 1 }]);
});

test('an entry that was claimed while another one is pushed is not pushed if syncing is disabled meanwhile', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1', b: '2' });
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ service: 'worker', destination });
  const called: string[] = [];
  const put: Put = async ({ entryId }) => {
    called.push(entryId);
    await eventually(() => areLeased(entryIds));
    await db.query('update sync.config set disabled = true');
    await eventually(() => lines.some((line) => line.includes('sync switch changed')));
    return { remote: {} };
  };
  const areFree = async () => (await stateOf(entryIds)).every(({ isLeased }) => !isLeased);
  try {
    await runWorker(entryIds, put, async () => called.length > 0 && (await areFree()), {
      concurrency: 1,
      log,
    });
  } finally {
    await db.query('update sync.config set disabled = false');
  }
  expect(called).toHaveLength(1);
  expect(await stateOf(entryIds)).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
});

test('an attempt that the database interrupts, such as by a lock, is no failure: its claim is released', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1' });
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const put: Put = async () => {
    throw new Problem('unavailable', 'expected in this test');
  };
  const isReleased = async () => lines.some((line) => line.includes('attempt abandoned'));
  await runWorker(entryIds, put, isReleased, { log: createLogger({ service: 'worker', destination }) });
  const [entry] = await db.query(
    'select status, last_error, due_at is not null as "isDue" from sync.entries where id = $1',
    entryIds,
  );
  expect(entry).toEqual({ status: 'PENDING', last_error: null, isDue: true });
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

/** A database, and whether the entries were read for their attempts: then they have a slot, or wait for one. */
function observedReads(entryIds: readonly string[]): { db: Db; areRead: () => boolean } {
  const read = new Set<string>();
  const observed: Db = {
    ...db,
    query: async <Row>(text: string, params?: readonly unknown[]) => {
      const rows = await db.query<Row>(text, params);
      if (text.includes('as is_unhealthy')) for (const id of params![0] as string[]) read.add(id);
      return rows;
    },
  };
  return { db: observed, areRead: () => entryIds.every((id) => read.has(id)) };
}

/** Longer than a claimed entry may wait for its slot without being compared with the database again. */
const longWaitMs = 400;

test.each([
  ['its destination changes', 'update sync.destinations set revision = revision + 1'],
  ['another worker pauses its account', `update sync.lanes set paused_until = now() + interval '1 minute'`],
  ['its removal is requested', `update sync.entries set desired = 'absent', generation = generation + 1`],
  ['its destination is deleted', 'update sync.destinations set deleted_at = now(), namespace_id = null'],
])(
  'an entry that was claimed while another one is pushed is not pushed if meanwhile %s',
  async (_, statement) => {
    const entryIds = await insertSyncedSecret(db, keyRing, { a: '1', b: '2' });
    const { db: observed, areRead } = observedReads(entryIds);
    const called: string[] = [];
    const put: Put = async ({ entryId }) => {
      called.push(entryId);
      await eventually(areRead);
      await db.query(statement);
      await sleep(longWaitMs);
      return { remote: {} };
    };
    const areFree = async () => (await stateOf(entryIds)).every(({ isLeased }) => !isLeased);
    await runWorker(entryIds, put, async () => called.length > 0 && (await areFree()), {
      concurrency: 1,
      db: observed,
    });
    expect(called).toHaveLength(1);
    const waiting = (await stateOf(entryIds)).find(({ id }) => id !== called[0]);
    expect(waiting).toMatchObject({ isDue: true, attempts: 0 });
  },
);

test('an entry that changes while it waits for its slot is due again after its push', async () => {
  // In two destinations: one whose call takes over a second gets no further slot.
  const secrets = [{ a: '1' }, { b: '2' }].map((data) => insertSyncedSecret(db, keyRing, data));
  const entryIds = (await Promise.all(secrets)).flat();
  const { db: observed, areRead } = observedReads(entryIds);
  const called: string[] = [];
  const put: Put = async ({ entryId }) => {
    called.push(entryId);
    if (called.length > 1) return { remote: {} };
    await eventually(areRead);
    await requestPut(
      db,
      entryIds.filter((id) => id !== entryId),
    );
    await sleep(longWaitMs);
    return { remote: {} };
  };
  const areFree = async () => (await stateOf(entryIds)).every(({ isLeased }) => !isLeased);
  await runWorker(entryIds, put, async () => called.length > 1 && (await areFree()), {
    concurrency: 1,
    db: observed,
  });
  expect((await stateOf(entryIds)).map(({ id, isDue }) => [id, isDue])).toEqual(
    expect.arrayContaining([
      [called[0], false],
      [called[1], true],
    ]),
  );
});

test('an attempt has used half of its time after half of its limit', () => {
  const attempts = new Attempts(60_000);
  expect(attempts.isHalfOver(performance.now() - 31_000)).toBe(true);
  expect(attempts.isHalfOver(performance.now())).toBe(false);
});

test('the time limit of an attempt counts from before its claim was sent', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1' });
  let sentAt: number | undefined;
  let abortedAfterMs: number | undefined;
  const slow: Db = {
    ...db,
    query: async <Row>(text: string, params?: readonly unknown[]) => {
      const isClaim = text.includes('set lease_owner = $3');
      if (isClaim) sentAt ??= performance.now();
      const rows = await db.query<Row>(text, params);
      if (isClaim) await sleep(4_000);
      return rows;
    },
  };
  const put: Put = async (_, signal) => {
    await once(signal, 'abort');
    abortedAfterMs ??= performance.now() - sentAt!;
    throw new Error('expected in this test');
  };
  // 60 % of 10 s is 6 s; from the response to the claim, it would be 10 s.
  await runWorker(entryIds, put, () => abortedAfterMs !== undefined, { db: slow, leaseSeconds: 10 });
  expect(abortedAfterMs).toBeLessThan(9_000);
});

test('does not call the destination if the time limit passed before', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1' });
  let isAnswered = false;
  let calls = 0;
  const slow: Db = {
    ...db,
    query: async <Row>(text: string, params?: readonly unknown[]) => {
      const rows = await db.query<Row>(text, params);
      if (text.includes('set lease_owner = $3')) {
        await sleep(1_200);
        isAnswered = true;
      }
      return rows;
    },
  };
  const put: Put = async () => {
    calls += 1;
    return { remote: null };
  };
  const isSettled = async () => isAnswered && (await broker.depth(syncQueue(destinationType))).ready === 0;
  await runWorker(entryIds, put, isSettled, { db: slow, leaseSeconds: 1 });
  expect(calls).toBe(0);
  expect(await db.query('select from sync.entries where id = $1 and fault is not null', entryIds)).toEqual(
    [],
  );
});

test('a value counts as unchanged only if no attempt of the intent was made before', async () => {
  const entryIds = await insertSyncedSecret(db, keyRing, { a: '1' });
  const puts: [valueChanged: boolean, verify: boolean][] = [];
  const put: Put = async ({ valueChanged, verify }) => {
    puts.push([valueChanged, verify]);
    return { remote: null };
  };
  const isSynced = async () => {
    const rows = await db.query(
      `select from sync.entries where id = any($1::uuid[]) and status = 'SYNCED' and lease_owner is null`,
      [entryIds],
    );
    return rows.length === 1;
  };
  const intend = (attempts: number) =>
    db.query(
      `update sync.entries set generation = generation + 1, status = 'PENDING', attempts = $2, due_at = now() where id = any($1::uuid[])`,
      [entryIds, attempts],
    );
  await runWorker(entryIds, put, isSynced);
  await intend(0);
  await runWorker(entryIds, put, isSynced);
  expect(puts).toEqual([[true, false]]);
  await intend(1); // an attempt has failed, perhaps after it wrote another value
  await runWorker(entryIds, put, isSynced);
  expect(puts).toEqual([
    [true, false],
    [true, true],
  ]);
});
