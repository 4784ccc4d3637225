import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { advanceClock } from '@secrets/clock';
import {
  answerStoreRead,
  claimCheck,
  claimEntries,
  claimStoreRead,
  completeEntries,
  completeRemoval,
  endCheck,
  failEntry,
  findLeftProbe,
  forgetPutStart,
  forgetWorker,
  listLeftProbes,
  lockedEntries,
  lockName,
  postponeEntry,
  readEntryContexts,
  readHistory,
  readSealedValue,
  readSyncConfig,
  recordLeftProbeRemoved,
  recordProbePut,
  recordProbeRemoved,
  recordProbeStart,
  recordPutStart,
  recordRemote,
  recordSlowDestination,
  recordWorker,
  reportInstallation,
  reportToLane,
  shortenLease,
  verifyAgain,
  wakeRivals,
} from '@secrets/sync-entries';
import { workerGrants } from '../src/database/role-grants.ts';
import { workers } from '../src/database-roles.ts';
import { as, preparedDb, refusal } from './role-for-test.ts';

const worker = 'sync-worker-clouda-sm';

describe('database role of a worker', () => {
  let db: Awaited<ReturnType<typeof preparedDb>>;
  let mine: EntryIds;
  let foreign: EntryIds;

  beforeAll(async () => {
    db = await preparedDb();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    mine = await insertEntry('cloudA-sm');
    foreign = await insertEntry('cloudB-kv');
  });

  interface EntryIds {
    destination: string;
    association: string;
    entry: string;
  }

  /** Inserts a secret with one version, and an entry that pushes it to a destination of this type. */
  async function insertEntry(type: string): Promise<EntryIds> {
    const [mount, secret, version, destination, association, entry] = Array.from({ length: 6 }, () =>
      randomUUID(),
    );
    await db.query(
      `insert into secrets.mounts (id, namespace_id, path, accessor) values ($1::uuid, 'root', $1::text, $1::text)`,
      [mount],
    );
    await db.query(
      `insert into secrets.secrets (id, mount_id, path, current_version) values ($1, $2, 'app', 1)`,
      [secret, mount],
    );
    await db.query(
      `insert into secrets.versions (secret_id, version, id, sealed, created_at) values ($1, 1, $2, '\\xfe', now())`,
      [secret, version],
    );
    await db.query(
      `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
       values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
      [destination, type],
    );
    await db.query(
      `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
       values ($1, $2, 'root', $3, 'kv', 'kv_1', $4, 'app', 1)`,
      [association, destination, mount, secret],
    );
    await db.query(
      `insert into sync.entries (id, association_id, destination_id, destination_type, external_name, collision_key)
       values ($1, $2, $3, $4, 'app', 'app')`,
      [entry, association, destination, type],
    );
    return { destination: destination!, association: association!, entry: entry! };
  }

  const claim = (ids: EntryIds, destinationType = 'cloudA-sm') =>
    as(
      db,
      worker,
      async (sql) =>
        (
          await claimEntries(sql, {
            entryIds: [ids.entry],
            destinationType,
            owner: 'me',
            leaseSeconds: 30,
          })
        )[0],
    );

  test('sees whether the secret of its entry exists, without a readable version too', async () => {
    const contextOf = async () =>
      (await as(db, worker, (sql) => readEntryContexts(sql, [mine.entry]))).get(mine.entry);
    const ofSecret = '(select secret_id from sync.associations where id = $1)';
    await db.query(`update secrets.versions set deletion_time = now() where secret_id = ${ofSecret}`, [
      mine.association,
    ]);
    expect(await contextOf()).toMatchObject({ value: null, secretExists: true });
    await db.query(`delete from secrets.secrets where id = ${ofSecret}`, [mine.association]);
    expect(await contextOf()).toMatchObject({ value: null, secretExists: false });
  });

  test('runs every statement that a worker needs', async () => {
    const claimed = (await claim(mine))!;
    expect(claimed.id).toBe(mine.entry);
    const contexts = await as(db, worker, (sql) => readEntryContexts(sql, [mine.entry]));
    const { versionId } = contexts.get(mine.entry)!.value!.location;
    expect([...(await as(db, worker, (sql) => readSealedValue(sql, mine.entry, versionId)))!]).toEqual([
      0xfe,
    ]);
    expect(await as(db, worker, (sql) => readSealedValue(sql, foreign.entry, versionId))).toBeUndefined();
    expect([...contexts.get(mine.entry)!.value!.sealed!]).toEqual([0xfe]);
    await as(db, worker, async (sql) => {
      expect(await sql.transaction((tx) => lockName(tx, claimed.id))).toBeNull();
      await wakeRivals(sql, mine.destination, ['app']);
      expect(await recordPutStart(sql, claimed)).toBe(true);
      expect(await recordRemote(sql, claimed, { id: 1 })).toBe(true);
      await forgetPutStart(sql, claimed);
      const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: { id: 1 } } as const;
      expect([...(await completeEntries(sql, [{ held: claimed, achieved }]))]).toEqual([mine.entry]);
      expect([...(await lockedEntries(sql, [mine.entry]))]).toEqual([]);
      await postponeEntry(sql, mine.entry);
      await shortenLease(sql, claimed, 2);
      await failEntry(sql, claimed, {
        status: 'PENDING',
        fault: 'throttled',
        error: 'later',
        retryInSeconds: 1,
      });
      expect(await verifyAgain(sql, [{ id: mine.entry, fence: -1 }])).toEqual(new Set());
      const lane = { laneId: contexts.get(mine.entry)!.lane.id, destinationId: mine.destination };
      for (const fault of ['throttled', 'unavailable'] as const) {
        const report = { kind: 'failed', fault, retryAfterSeconds: 1 } as const;
        expect(await reportToLane(sql, lane, report, { tookMs: 0, random: 0 })).toMatchObject({
          pausedForSeconds: expect.closeTo(1, 0),
        });
      }
      await recordSlowDestination(sql, mine.destination);
      await recordWorker(sql, { id: 'w', destinationType: 'cloudA-sm', slots: 16 });
      await forgetWorker(sql, 'w', 'cloudA-sm');
      await advanceClock(sql, 'sync');
      await reportInstallation(sql, 'copy');
      expect(await readSyncConfig(sql)).toMatchObject({ disabled: false });
    });
  });

  test('runs every statement of a check, of its own type only', async () => {
    const insertCheck = async ({ destination }: EntryIds, type: string) => {
      const [row] = await db.query<{ id: string }>(
        `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at)
         values ($1, $2, 'probe', now() + interval '1 minute') returning id`,
        [destination, type],
      );
      return row!.id;
    };
    const own = await insertCheck(mine, 'cloudA-sm');
    const other = await insertCheck(foreign, 'cloudB-kv');
    await as(db, worker, async (sql) => {
      expect(await claimCheck(sql, own)).toMatchObject({ probe: { externalName: 'probe' } });
      expect(await claimCheck(sql, other)).toBeUndefined();
      expect(await recordProbeStart(sql, own)).toBe(true);
      expect(await recordProbeStart(sql, other)).toBe(false);
      await recordProbePut(sql, own, { id: 1 });
      await endCheck(sql, own, []);
      expect(await findLeftProbe(sql, own)).toMatchObject({ remote: { id: 1 } });
      expect(await listLeftProbes(sql, mine.destination, 3)).toHaveLength(1);
      await recordLeftProbeRemoved(sql, own);
      await recordProbeRemoved(sql, own);
    });
    expect(await refusal(db, worker, 'delete from sync.destination_checks')).toMatch(/permission denied/);
  });

  test('runs every statement of a read of a store, of its own type only', async () => {
    const insertRead = async ({ destination }: EntryIds, type: string) => {
      const [row] = await db.query<{ id: string }>(
        `insert into sync.store_reads (destination_id, destination_type, question, ends_at)
         values ($1, $2, '{"after": {"page": null, "name": ""}, "limit": 1}', now() + interval '1 minute') returning id`,
        [destination, type],
      );
      return row!.id;
    };
    const own = await insertRead(mine, 'cloudA-sm');
    const other = await insertRead(foreign, 'cloudB-kv');
    await as(db, worker, async (sql) => {
      expect(await claimStoreRead(sql, own)).toMatchObject({ question: { limit: 1 } });
      expect(await claimStoreRead(sql, other)).toBeUndefined();
      await answerStoreRead(sql, own, { secrets: [], next: null });
    });
    expect(await refusal(db, worker, 'delete from sync.store_reads')).toMatch(/permission denied/);
  });

  test('deletes a removed association with its last entry', async () => {
    await db.query('update sync.associations set removing = true where id = $1', [mine.association]);
    await db.query(`update sync.entries set desired = 'absent' where id = $1`, [mine.entry]);
    const claimed = (await claim(mine))!;
    expect(await as(db, worker, (sql) => completeRemoval(sql, claimed))).toBe(true);
    expect(await db.query('select id from sync.associations where id = $1', [mine.association])).toEqual([]);
  });

  test('deletes the history of an entry with it', async () => {
    await db.query(`update sync.entries set desired = 'absent' where id = $1`, [mine.entry]);
    const history = () => db.query('select from sync.entry_history where entry_id = $1', [mine.entry]);
    const failed = {
      status: 'CLIENT_SIDE_ERROR',
      fault: 'forbidden',
      error: 'no',
      retryInSeconds: 0,
    } as const;
    const first = (await claim(mine))!;
    await as(db, worker, (sql) => failEntry(sql, first, failed));
    expect(await history()).toHaveLength(1);
    const second = (await claim(mine))!;
    await as(db, worker, (sql) => completeRemoval(sql, second));
    expect(await history()).toHaveLength(0);
  });

  test('cannot keep a worker of another type from recording history, or add to the history of its entries', async () => {
    await as(db, worker, (sql) =>
      sql.query(
        `insert into sync.entry_history (entry_id, slot, number, destination_type, action, status, attempts)
         select $1, n, n, 'cloudA-sm', 'put', 'SYNCED', 1 from generate_series(0, 19) as n`,
        [foreign.entry],
      ),
    );
    const other = 'sync-worker-cloudb-kv';
    const recorded = await as(db, other, async (sql) => {
      const claim = {
        entryIds: [foreign.entry],
        destinationType: 'cloudB-kv',
        owner: 'me',
        leaseSeconds: 30,
      };
      const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const;
      const held = await claimEntries(sql, claim);
      return completeEntries(sql, [{ held: held[0]!, achieved }]);
    });
    expect([...recorded]).toEqual([foreign.entry]);
    expect(await as(db, 'sync-control', (sql) => readHistory(sql, [foreign.entry]))).toHaveLength(1);
  });

  test('sees no destination, entry, association or value of another type', async () => {
    const counts = await as(db, worker, (sql) =>
      sql.query(
        `select (select count(*)::int from sync.destinations where id = $1) as destinations,
                (select count(*)::int from sync.entries where id = $2) as entries,
                (select count(*)::int from sync.associations where id = $3) as associations,
                (select count(*)::int from sync.entry_values where entry_id = $2) as "values"`,
        [foreign.destination, foreign.entry, foreign.association],
      ),
    );
    expect(counts).toEqual([{ destinations: 0, entries: 0, associations: 0, values: 0 }]);
    const types = await as(db, worker, (sql) => sql.query('select distinct type from sync.destinations'));
    expect(types).toEqual([{ type: 'cloudA-sm' }]);
  });

  test('cannot delete entries and associations that are not to be removed', async () => {
    await as(db, worker, async (sql) => {
      expect(await sql.query('delete from sync.entries returning id')).toEqual([]);
      expect(await sql.query('delete from sync.associations returning id')).toEqual([]);
    });
    expect(await db.query('select id from sync.entries where id = $1', [mine.entry])).toHaveLength(1);
  });

  test('cannot change rows of another type', async () => {
    expect(await claim(foreign, 'cloudB-kv')).toBeUndefined();
    await as(db, worker, async (sql) => {
      await sql.query(`update sync.entries set status = 'SYNCED' where id = $1`, [foreign.entry]);
      await sql.query('delete from sync.entries where id = $1', [foreign.entry]);
      await sql.query('delete from sync.associations where id = $1', [foreign.association]);
    });
    await expect(
      as(db, worker, (sql) => recordWorker(sql, { id: 'w', destinationType: 'cloudB-kv', slots: 1 })),
    ).rejects.toThrow(/row-level security/);
    expect(
      await as(db, worker, (sql) => sql.query("select from sync.lanes where destination_type = 'cloudB-kv'")),
    ).toEqual([]);
    await expect(
      as(db, worker, (sql) =>
        sql.query(
          `insert into sync.entry_history (entry_id, slot, number, destination_type, action, status, attempts)
           values ($1, 1, 1, 'cloudB-kv', 'put', 'SYNCED', 1)`,
          [foreign.entry],
        ),
      ),
    ).rejects.toThrow(/row-level security/);
    const [row] = await db.query('select status from sync.entries where id = $1', [foreign.entry]);
    expect(row).toEqual({ status: 'PENDING' });
  });

  test.each([
    'update sync.entries set association_id = gen_random_uuid()',
    'update sync.entries set destination_id = gen_random_uuid()',
    "update sync.entries set destination_type = 'cloudB-kv'",
    "update sync.entries set desired = 'absent'",
    "update sync.entries set external_name = 'other'",
    'update sync.entries set generation = 9',
    'update sync.associations set secret_id = gen_random_uuid()',
    "update sync.destinations set settings = '{}'",
    'delete from sync.destinations',
    'update sync.config set disabled = true',
    'delete from sync.entry_history',
    'update sync.entry_history set entry_id = gen_random_uuid()',
    "update sync.entry_history set destination_type = 'cloudB-kv'",
    'select * from sync.schema_version',
    'select * from secrets.newest_readable',
    'select * from secrets.versions',
    'select * from login.tokens',
    'select * from sync.codehost_apps',
    'insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key) select association_id, destination_id, destination_type, external_name, random()::text from sync.entries',
  ])('is refused: %s', async (text) => {
    expect(await refusal(db, worker, text)).toMatch(/permission denied/);
  });

  test('only the worker of the code host may read applications', async () => {
    await db.query(
      `insert into sync.codehost_apps (namespace_id, name, app_id, fingerprint, sealed_private_key) values ('root', $1, 1, 'f', '\\xfe')`,
      [randomUUID()],
    );
    const undone = new Error('undone');
    const rows = db.transaction(async (tx) => {
      await tx.query('grant select on sync.codehost_apps to sync_worker_clouda_sm');
      await tx.query('set local role sync_worker_clouda_sm');
      expect(await tx.query('select from sync.codehost_apps')).toEqual([]); // not even with the privilege
      throw undone;
    });
    await expect(rows).rejects.toBe(undone);
    const mayReadApps = (name: string) => workerGrants(name).includes('select on sync.codehost_apps');
    expect(mayReadApps('sync-worker-codehost')).toBe(true);
    expect(
      workers.filter((name) => mayReadApps(name) && name !== ('sync-worker-codehost' as string)),
    ).toEqual([]);
  });

  test('sync-control sees entries of every type, but no value', async () => {
    const [row] = await as(db, 'sync-control', (sql) =>
      sql.query('select count(*)::int as count from sync.entries where id = any($1::uuid[])', [
        [mine.entry, foreign.entry],
      ]),
    );
    expect(row).toEqual({ count: 2 });
    expect(await refusal(db, 'sync-control', 'select * from sync.entry_values')).toMatch(/permission denied/);
  });

  test('the owner, which is the only role of a standalone installation, sees every value', async () => {
    const rows = await db.query('select entry_id from sync.entry_values where entry_id = any($1::uuid[])', [
      [mine.entry, foreign.entry],
    ]);
    expect(rows).toHaveLength(2);
  });
});
