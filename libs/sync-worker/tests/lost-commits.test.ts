import { expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { Problem, syncQueue } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

// A failover that loses the newest commits, while a worker is amid the call of a destination.

const { db, broker, keyRing, depsOfWorker } = useServers();

/** An entry of generation 1 that is synced, a later intent, and what brings back the time before that. */
async function changedEntry() {
  const [id] = await insertSyncedSecret(db, keyRing, { a: '1' });
  await db.query(
    `update sync.entries set status = 'SYNCED', applied_generation = 1, pushed_hash = 'of before', due_at = null where id = $1`,
    [id],
  );
  const [before] = await db.query<{ entry: string }>(
    'select to_jsonb(e)::text as entry from sync.entries e where id = $1',
    [id],
  );
  await db.query(`update sync.entries set generation = 2, status = 'PENDING', due_at = now() where id = $1`, [
    id,
  ]);
  const loseCommits = () =>
    db.transaction(async (tx) => {
      await tx.query('delete from sync.entries where id = $1', [id]);
      await tx.query(
        'insert into sync.entries select (jsonb_populate_record(null::sync.entries, $1::jsonb)).*',
        [before!.entry],
      );
    });
  return { id: id!, loseCommits };
}

/** Runs a worker that calls `put` for the entry, until its row matches. */
async function runUntil(
  id: string,
  put: ConnectedDestination['put'],
  expected: object,
  workerDb: Db = db,
): Promise<void> {
  const worker = createSyncWorker(
    {
      type: destinationType,
      connect: async () => emptyStore({ put }),
    },
    { ...depsOfWorker(), db: workerDb },
    { concurrency: 2, leaseSeconds: 60, prefix: 'secrets', stopGraceSeconds: 0.1 },
  );
  await worker.start();
  await broker.publish(syncQueue(destinationType), [{ entry_id: id, destination_id: id }]);
  await eventually(async () =>
    expect(
      await db.query(
        'select status, verify, pushed_hash as hash, due_at <= now() as due, applied_generation as applied from sync.entries where id = $1',
        [id],
      ),
    ).toMatchObject([expected]),
  );
  await worker.stop();
}

const verified = { status: 'PENDING', verify: true, hash: null, due: true, applied: 0 };

test('an outcome whose claim is lost has the entry verified, and written with what is stored then', async () => {
  const { id, loseCommits } = await changedEntry();
  const puts: { valueChanged: boolean; verify: boolean }[] = [];
  const put: ConnectedDestination['put'] = async (request) => {
    puts.push(request);
    if (puts.length === 1) await loseCommits();
    return { remote: null };
  };
  await runUntil(id, put, verified);
  await runUntil(id, put, { status: 'SYNCED', verify: false, applied: 1 });
  expect(puts).toMatchObject([{}, { valueChanged: true, verify: true }]);
});

test('so has one that could not be recorded because the database was away', async () => {
  const { id, loseCommits } = await changedEntry();
  let isAway = false;
  const requireDb = () => {
    if (isAway) throw new Problem('unavailable', 'the database is away');
  };
  const away: Db = {
    ...db,
    query: async (text, params) => {
      requireDb();
      return db.query(text, params);
    },
    transaction: async (work, options) => {
      requireDb();
      return db.transaction(work, options);
    },
  };
  const put: ConnectedDestination['put'] = async () => {
    isAway = true;
    setTimeout(() => void loseCommits().then(() => (isAway = false)), 300);
    return { remote: null };
  };
  await runUntil(id, put, verified, away);
});
