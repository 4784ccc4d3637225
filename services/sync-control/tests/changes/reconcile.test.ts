import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { useStarted } from '../../../../libs/testing/src/use-started.ts';
import { removeApproved } from '../../src/changes/approved-removals.ts';
import { followAll } from '../../src/changes/follow-all.ts';
import { type FollowContext, onSecretChange } from '../../src/changes/on-secret-change.ts';
import { reconcile } from '../../src/changes/reconcile.ts';
import type { SecretRevision } from '../../src/changes/secrets-client.ts';
import type { Context } from '../../src/context.ts';
import { insertMany } from '../insert-many.ts';

const associations = 1_100; // three pages
const intervalSeconds = 300;

const db = useStarted(openTestDb, ({ close }) => close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', '{}')`,
  );
  await insertMany(db, { destination: 'd', count: associations, status: 'SYNCED' });
  await isDue();
});

const isDue = () =>
  db.query(`update sync.reconciliation set started_at = '-infinity', running = false, position = default`);

/** The dependencies with a secrets service in which every secret has revision 1, and which records its requests. */
function followingSeeing(
  revisionsOf: (ids: readonly string[]) => SecretRevision[] = (ids) =>
    ids.map((secret_id) => ({ secret_id, exists: true, revision: 1 })),
) {
  const asked: string[] = [];
  const inspected: string[] = [];
  const secrets = {
    revisions: async (_requestId: string, ids: readonly string[]) => {
      asked.push(...ids);
      return revisionsOf(ids);
    },
    inspect: async (_requestId: string, ids: readonly string[]) => {
      inspected.push(...ids);
      return ids.map((secret_id) => ({ secret_id, exists: true, readable: true, revision: 2, keys: [] }));
    },
  };
  const context = {
    db,
    secrets,
    queue: { notify: () => undefined },
    prefix: 'secrets',
  } as unknown as Context;
  const log = silentLogger();
  const following: FollowContext = { context, log, brake: { limits: { minEntries: 50, share: 0.2 }, log } };
  return { following, asked, inspected };
}

const never = () => false;

test('compares every association once, and opens no secret that has not changed', async () => {
  const { following, asked, inspected } = followingSeeing();
  expect(await reconcile(following, intervalSeconds, never)).toBe(0);
  expect([new Set(asked).size, asked.length, inspected]).toEqual([associations, associations, []]);
});

test('opens and follows only the secrets that have changed', async () => {
  const [row] = await db.query<{ id: string }>('select secret_id as id from sync.associations limit 1');
  const { following, inspected } = followingSeeing((ids) =>
    ids.map((secret_id) => ({ secret_id, exists: true, revision: secret_id === row!.id ? 2 : 1 })),
  );
  expect(await reconcile(following, intervalSeconds, never)).toBe(1);
  expect(inspected).toEqual([row!.id]);
});

test('what is found goes after what users ask for, also a removal and a secret that has come back', async () => {
  const states = { many1: 'changed', many2: 'gone', many3: 'returned' } as const;
  const rows = await db.query<{ id: string; name: keyof typeof states }>(
    `select secret_id as id, secret_name as name from sync.associations where secret_name = any($1)`,
    [Object.keys(states)],
  );
  const stateOf = new Map<string, string>(rows.map(({ id, name }) => [id, states[name]]));
  await db.query(
    `update sync.associations set source_gone_at = now(), source_removals = 1 where secret_name = 'many3'`,
  );
  await db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR' where external_name = 'many3'`);
  const { following } = followingSeeing((ids) =>
    ids.map((secret_id) => {
      const state = stateOf.get(secret_id);
      return { secret_id, exists: state !== 'gone', revision: state === 'changed' ? 2 : 1 };
    }),
  );
  await reconcile(following, intervalSeconds, never);
  const inspect = async (_: string, ids: readonly string[]) =>
    ids.map((secret_id) => ({ secret_id, exists: false, readable: false, revision: 1, keys: [] }));
  const secrets = { ...following.context.secrets, inspect };
  await removeApproved({ ...following, context: { ...following.context, secrets } }, never);
  const pending = await db.query(
    `select external_name as name, desired, priority from sync.entries where status = 'PENDING' order by 1`,
  );
  expect(pending).toEqual([
    { name: 'many1', desired: 'present', priority: 2 },
    { name: 'many2', desired: 'absent', priority: 2 },
    { name: 'many3', desired: 'present', priority: 2 },
  ]);
});

test('a change that a user makes goes first', async () => {
  const [row] = await db.query<{ id: string }>('select secret_id as id from sync.associations limit 1');
  const { following } = followingSeeing();
  expect(await onSecretChange(following, { secret_id: row!.id }, 'request')).toBe('ack');
  expect(await db.query(`select priority from sync.entries where status = 'PENDING'`)).toEqual([
    { priority: 0 },
  ]);
});

test('several processes share one round, and none starts another before the interval has passed', async () => {
  const { following, asked } = followingSeeing();
  await Promise.all([1, 2, 3].map(() => reconcile(following, intervalSeconds, never)));
  await reconcile(following, intervalSeconds, never);
  expect(asked).toHaveLength(associations);
});

test('another process continues a round where the first one stopped', async () => {
  const { following, asked } = followingSeeing();
  await reconcile(following, intervalSeconds, () => true);
  expect(asked).toHaveLength(500);
  await reconcile(following, intervalSeconds, never);
  expect([asked.length, new Set(asked).size]).toEqual([associations, associations]);
});

test('another process continues after a crash, when the lease has ended', async () => {
  const { following, asked } = followingSeeing();
  await reconcile(following, intervalSeconds, () => true);
  await db.query(
    `update sync.reconciliation set lease_owner = $1, leased_until = now() + interval '1 minute'`,
    [randomUUID()],
  );
  await reconcile(following, intervalSeconds, never);
  expect(asked).toHaveLength(500);
  await db.query('update sync.reconciliation set leased_until = now()');
  await reconcile(following, intervalSeconds, never);
  expect(asked).toHaveLength(associations);
});

test('a secret that has come back is no longer marked, and what failed meanwhile is pushed again', async () => {
  const { following } = followingSeeing();
  await db.query(
    `update sync.associations set source_gone_at = now(), source_removals = 1 where secret_name in ('many1', 'many2')`,
  );
  await db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR' where external_name = 'many1'`);
  await reconcile(following, intervalSeconds, never);
  expect(await db.query('select id from sync.associations where source_gone_at is not null')).toEqual([]);
  const pending = await db.query(`select external_name as name from sync.entries where status = 'PENDING'`);
  expect(pending).toEqual([{ name: 'many1' }]);
});

test('does nothing about secrets whose state is unknown', async () => {
  const { following } = followingSeeing(() => []);
  await reconcile(following, intervalSeconds, never);
  expect(await db.query('select id from sync.associations where source_gone_at is not null')).toEqual([]);
});

test('a secret that cannot be followed is counted, and does not hold up the others', async () => {
  const { following } = followingSeeing();
  const metrics = createMetrics('test', { processMetrics: false });
  const failures = metrics.counter('failures', 'failures');
  let transactions = 0;
  const failingOnce: Db = {
    ...db,
    query: (text, params) => db.query(text, params),
    transaction: (work) => {
      transactions += 1;
      return transactions === 1 ? Promise.reject(new Error('cannot be followed')) : db.transaction(work);
    },
  };
  const rows = await db.query<{ id: string }>('select secret_id as id from sync.associations limit 3');
  const secrets = rows.map(({ id }) => ({
    secret_id: id,
    exists: true,
    readable: true,
    revision: 2,
    keys: [],
  }));
  const context = { ...following.context, db: failingOnce };
  expect(await followAll({ ...following, context, failures }, secrets)).toBe(2);
  expect(await metrics.text()).toMatch(/failures\{[^}]*\} 1/);
  const followed = await db.query('select id from sync.associations where planned_revision = 2');
  expect(followed).toHaveLength(2);
});

describe('a destination that cannot be changed', () => {
  let [stuck, other] = ['', ''];

  /** Makes every change of this table that fulfils the condition fail. */
  const refuse = async (table: string, condition: string) => {
    await db.query(`alter table ${table} add constraint refused check (not (${condition})) not valid`);
    refused = table;
  };
  let refused: string | undefined;

  beforeEach(async () => {
    const rows = await db.query<{ id: string }>(
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
       values ('root', '', 'cloudX', 'stuck', '{}'), ('root', '', 'cloudA-sm', 'other', '{}') returning id`,
    );
    [stuck, other] = rows.map(({ id }) => id) as [string, string];
    for (const destination of ['stuck', 'other'])
      await insertMany(db, { destination, count: 2, status: 'SYNCED' });
    await db.query(`delete from sync.destinations where name = 'd'`);
  });
  afterEach(async () => {
    if (refused !== undefined) await db.query(`alter table ${refused} drop constraint refused`);
    refused = undefined;
  });
  const isRunning = async () =>
    (await db.query<{ running: boolean }>('select running from sync.reconciliation'))[0]!.running;
  const approved = async () => {
    const rows = await db.query<{ id: string }>(
      'select destination_id as id from sync.removal_brakes where approved_at is not null',
    );
    return rows.map(({ id }) => id);
  };
  const gone = (ids: readonly string[]) =>
    ids.map((secret_id) => ({ secret_id, exists: false, revision: 0 }));

  test('does not keep the removals of others from being marked and decided', async () => {
    await refuse('sync.associations', `destination_id = '${stuck}' and source_gone_at is not null`);
    await reconcile(followingSeeing(gone).following, intervalSeconds, never);
    expect(await approved()).toEqual([other]);
    expect(await isRunning()).toBe(false);
  });

  test('does not keep a round from ending', async () => {
    await refuse('sync.removal_brakes', `destination_id = '${stuck}'`);
    await db.query('update sync.associations set source_gone_at = now(), source_removals = 1');
    await reconcile(followingSeeing(gone).following, intervalSeconds, never);
    expect(await approved()).toEqual([other]);
    expect(await isRunning()).toBe(false);
  });

  test('does not keep the secrets of others from being accepted again', async () => {
    await db.query('update sync.associations set source_gone_at = now(), source_removals = 1');
    await refuse('sync.associations', `destination_id = '${stuck}' and source_gone_at is null`);
    await reconcile(followingSeeing().following, intervalSeconds, never);
    const marked = await db.query(
      'select distinct destination_id as id from sync.associations where source_gone_at is not null',
    );
    expect(marked).toEqual([{ id: stuck }]);
  });

  test('does not keep the approved removals of others from being carried out', async () => {
    await db.query('update sync.associations set source_gone_at = now(), source_removals = 1');
    await db.query(
      `insert into sync.removal_brakes (destination_id, approved_at) select id, now() from unnest($1::uuid[]) as id`,
      [[stuck, other]],
    );
    const { following } = followingSeeing();
    const inspect = async (_: string, ids: readonly string[]) => {
      const rows = await db.query(
        'select from sync.associations where destination_id = $1 and secret_id = any($2::uuid[])',
        [stuck, ids],
      );
      if (rows.length > 0) throw new Error('cannot be inspected');
      return ids.map((secret_id) => ({ secret_id, exists: false, readable: false, revision: 2, keys: [] }));
    };
    const secrets = { ...following.context.secrets, inspect };
    await removeApproved({ ...following, context: { ...following.context, secrets } }, never);
    const removing = await db.query(
      'select distinct destination_id as id from sync.associations where removing',
    );
    expect(removing).toEqual([{ id: other }]);
  });
});
