import { describe, expect, test } from '@jest/globals';
import { Fault, type FaultKind, type Json, syncQueue } from '@secrets/domain';
import { requestPut, requestRemoval } from '@secrets/sync-entries';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();

type Calls = Pick<ConnectedDestination, 'put' | 'remove'>;

/** Runs a worker with this driver on one message about the entry, until the driver was called and the message is acknowledged. */
async function attempt(entryId: string, calls: Partial<Calls>, isOver?: () => Promise<boolean>) {
  let called = false;
  const noted = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return (...args: Args) => {
      called = true;
      return call(...args);
    };
  };
  const { put = async () => ({ remote: {} }), remove = async () => {} } = calls;
  const connected = emptyStore({ put: noted(put), remove: noted(remove) });
  const worker = createSyncWorker({ type: destinationType, connect: async () => connected }, depsOfWorker(), {
    concurrency: 1,
    leaseSeconds: 60,
    prefix: 'secrets',
    stopGraceSeconds: 0.1,
  });
  await worker.start();
  await broker.publish(syncQueue(destinationType), [{ entry_id: entryId, destination_id: entryId }]);
  await eventually(async () => called && ((await isOver?.()) ?? true));
  await worker.stop();
}

const timePasses = () =>
  db.query(
    `update sync.entries set lease_until = lease_until - interval '1 day', next_attempt_at = null, due_at = now()`,
  );

test('a put and a removal learn that an earlier put has started whose outcome was lost', async () => {
  const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
  const seen: (Date | null)[] = [];
  await attempt(id, {
    put: async ({ putStartedAt, recordStart }) => {
      seen.push(putStartedAt);
      await recordStart();
      return new Promise(() => {}); // the worker is stopped, as if it had died
    },
  });
  await timePasses();
  await attempt(id, {
    put: async ({ putStartedAt }) => {
      seen.push(putStartedAt);
      throw new Fault('not_ready', 'later');
    },
  });
  await requestRemoval(db, [{ id, waitsFor: null }]);
  await attempt(id, {
    remove: async ({ putStartedAt }) => {
      seen.push(putStartedAt);
    },
  });
  expect(seen).toEqual([null, expect.any(Date), seen[1]]);
});

test('what a put has recorded is what later calls get, until one succeeds', async () => {
  const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
  const seen: (Json | null)[] = [];
  await attempt(id, {
    put: async ({ remote, recordRemote }) => {
      seen.push(remote);
      await recordRemote({ begun: 1 });
      return new Promise(() => {}); // the worker is stopped, as if it had died
    },
  });
  await timePasses();
  await attempt(id, {
    put: async ({ remote, recordRemote }) => {
      seen.push(remote);
      await recordRemote({ begun: 2 });
      throw new Fault('not_ready', 'later');
    },
  });
  await timePasses();
  const isSynced = async () =>
    (await db.query(`select from sync.entries where id = $1 and status = 'SYNCED'`, [id])).length > 0;
  const put: Calls['put'] = async ({ remote }) => {
    seen.push(remote);
    return { remote: { ended: true } };
  };
  await attempt(id, { put }, isSynced);
  await requestPut(db, [id], { verify: true });
  await attempt(id, { put }, isSynced);
  expect(seen).toEqual([null, { begun: 1 }, { begun: 2 }, { ended: true }]);
});

test('the hash of a value matches it, and no other one', async () => {
  const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
  let matches: boolean[] | undefined;
  const put: Calls['put'] = async ({ valueHash }) => {
    const hash = valueHash.of('1');
    matches = [Buffer.from('1'), '2'].map((value) => valueHash.matches(value, hash));
    return { remote: {} };
  };
  await attempt(id, { put });
  expect(matches).toEqual([true, false]);
});

test.each(['recordStart', 'recordRemote'] as const)(
  'a put does not start after its lease was lost, and %s records nothing about it',
  async (record) => {
    const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
    let hasWritten = false;
    let hasEnded = false;
    await attempt(
      id,
      {
        put: async (request) => {
          await db.query('update sync.entries set fence = fence + 1 where id = $1', [id]); // another worker has it
          try {
            await request[record]({});
            hasWritten = true;
          } catch (error) {
            throw new Fault('rejected', 'a driver that mistakes the error for one of the provider', {
              cause: error,
            });
          } finally {
            hasEnded = true;
          }
          return { remote: {} };
        },
      },
      async () => hasEnded,
    );
    expect(hasWritten).toBe(false);
    const [row] = await db.query(
      'select put_started_at as start, remote, status, fault from sync.entries where id = $1',
      [id],
    );
    expect(row).toEqual({ start: null, remote: null, status: 'PENDING', fault: null });
  },
);

test('a put that has started before records nothing again', async () => {
  const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
  const start = async () =>
    (
      await db.query<{ start: string }>(
        'select put_started_at::text as start from sync.entries where id = $1',
        [id],
      )
    )[0]!.start;
  const put: Calls['put'] = async ({ recordStart }) => {
    await recordStart();
    return { remote: {} };
  };
  const isSynced = async () =>
    (await db.query(`select from sync.entries where id = $1 and status = 'SYNCED'`, [id])).length > 0;
  await attempt(id, { put }, isSynced);
  const first = await start();
  expect(first).not.toBeNull();
  await requestPut(db, [id], { verify: true });
  await attempt(id, { put }, isSynced);
  expect(await start()).toBe(first);
});

describe('a put that was refused after its start', () => {
  const failed = async (id: string) =>
    (await db.query(`select from sync.entries where id = $1 and fault is not null`, [id])).length > 0;
  /** The start that is recorded after a put has recorded one and failed like this. */
  async function startAfter(kind: FaultKind, id: string, options: { inParts?: boolean } = {}) {
    const put: Calls['put'] = async ({ recordStart }) => {
      await recordStart(options);
      throw new Fault(kind, 'no');
    };
    await attempt(id, { put }, () => failed(id));
    const [row] = await db.query<{ start: Date | null }>(
      'select put_started_at as start from sync.entries where id = $1',
      [id],
    );
    return row!.start;
  }
  const newEntry = async () => (await insertSyncedSecret(db, keyRing, { a: '1' }))[0]!;

  test.each<FaultKind>(['unauthenticated', 'forbidden', 'rejected', 'too_large', 'throttled'])(
    'with %s has written nothing: its start is forgotten',
    async (kind) => {
      expect(await startAfter(kind, await newEntry())).toBeNull();
    },
  );

  test.each<FaultKind>(['unavailable', 'not_ready'])('keeps its start if it failed with %s', async (kind) => {
    expect(await startAfter(kind, await newEntry())).toBeInstanceOf(Date);
  });

  test('keeps its start if it writes in parts, of which one may have succeeded', async () => {
    expect(await startAfter('rejected', await newEntry(), { inParts: true })).toBeInstanceOf(Date);
  });

  test('keeps the start of an earlier put whose outcome was lost', async () => {
    const id = await newEntry();
    await attempt(id, {
      put: async ({ recordStart }) => {
        await recordStart();
        return new Promise(() => {}); // the worker is stopped, as if it had died
      },
    });
    await timePasses();
    expect(await startAfter('forbidden', id)).toBeInstanceOf(Date);
  });
});

test('a value that was pushed before is pushed again after an attempt that may have written another one', async () => {
  const [id] = (await insertSyncedSecret(db, keyRing, { a: '1' })) as [string];
  const isSynced = async () =>
    (await db.query(`select from sync.entries where id = $1 and status = 'SYNCED'`, [id])).length > 0;
  const seen: { valueChanged: boolean; verify: boolean }[] = [];
  const put: Calls['put'] = async ({ valueChanged, verify }) => {
    seen.push({ valueChanged, verify });
    return { remote: {} };
  };
  await attempt(id, { put }, isSynced);
  await db.query('update sync.entries set attempts = 1 where id = $1', [id]); // its outcome was lost
  await requestPut(db, [id]);
  await attempt(id, { put }, isSynced);
  // Verified as well, so that a store that can be read gets no new version of a value that it holds.
  expect(seen).toEqual([
    { valueChanged: true, verify: false },
    { valueChanged: true, verify: true },
  ]);
});
