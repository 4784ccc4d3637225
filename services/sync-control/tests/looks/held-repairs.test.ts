import { beforeEach, expect, test } from '@jest/globals';
import type { Drift } from '@secrets/domain';
import { forgetWorker, recordWorker } from '@secrets/sync-entries';
import { approveRepairs } from '../../src/queries/destinations/repairs.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

/** More than are repaired without a look at everything. */
const keys = Array.from({ length: 60 }, (_, index) => [`k${String(index).padStart(2, '0')}`, 'v']);

/** The pages of a pass are only sent while a worker is alive. */
const keepWorker = () => recordWorker(sync.db, { id: 'w', destinationType: 'cloudA-sm', slots: 4 });

beforeEach(async () => {
  await sync.reset();
  await keepWorker();
  at = await sync.fixture({ drift_policy: 'repair', granularity: 'secret-key' });
  await at.write('s', Object.fromEntries(keys));
  await at.set('s');
  await sync.work();
});

/** Records that looks have found this in the first external secrets. */
const findMany = (count: number, drift: Drift = 'changed') =>
  sync.db.query(
    `update sync.entries set status = 'CLIENT_SIDE_ERROR', drift = $2, drift_seen_at = now(), last_error = 'drifted'
      where id = any(array(select id from sync.entries order by collision_key limit $1))`,
    [count, drift],
  );

/** The number of external secrets whose repair was requested. */
const repairing = async (): Promise<number> =>
  (await sync.db.query(`select from sync.entries where repair_of = 'changed'`)).length;

const destination = async () => (await sync.call('GET', at.path)).body.data;
const untilHeld = () =>
  eventually(async () => {
    await keepWorker();
    return (await destination()).repairs_held_at !== undefined;
  });

/** Waits until a pass has begun, and returns the ID of the destination. */
const eventuallyInPass = async (): Promise<string> => {
  const inPass = () =>
    sync.db.query<{ id: string }>('select destination_id as id from sync.repairs where is_in_pass');
  await eventually(async () => (await inPass()).length > 0);
  return (await inPass())[0]!.id;
};
const confirm = () => sync.call('POST', `${at.path}/confirm-repairs`);

test('nothing is repaired before a pass has looked at everything', async () => {
  await forgetWorker(sync.db, 'w', 'cloudA-sm');
  await findMany(1);
  await eventuallyInPass();
  await findMany(50);
  expect(await repairing()).toBe(0);
  await eventually(async () => {
    await keepWorker();
    return (await repairing()) === 50;
  });
});

test('foreign external secrets alone begin no look at everything', async () => {
  await findMany(1, 'foreign');
  await eventually(
    async () => (await sync.db.query('select from sync.repairs where is_wanted')).length === 0,
  );
  expect(await sync.db.query('select from sync.inspections where requested_at is not null')).toEqual([]);
});

test('a look at everything begins again, because what it has seen may have changed since', async () => {
  await forgetWorker(sync.db, 'w', 'cloudA-sm');
  await sync.db.query(
    `update sync.inspections set requested_at = now() - interval '1 hour', is_in_round = true, position = 'k', seen = 50
      where destination_id = (select id from sync.destinations where name = $1)`,
    [at.name],
  );
  await findMany(1);
  const id = await eventuallyInPass();
  const [inspection] = await sync.db.query(
    `select requested_at > now() - interval '30 minutes' as "isNew", position, seen from sync.inspections where destination_id = $1`,
    [id],
  );
  expect(inspection).toEqual({ isNew: true, position: '', seen: 0 });
  expect(await destination()).toMatchObject({ inspect_remaining: 60 });
});

test('what is found while a decision is being made is decided about afterwards', async () => {
  await forgetWorker(sync.db, 'w', 'cloudA-sm');
  await findMany(1);
  const waiting = await eventuallyInPass();
  const decided = Promise.withResolvers<void>();
  const found = Promise.withResolvers<void>();
  const decision = sync.db.transaction(async (tx) => {
    await approveRepairs(tx, waiting);
    decided.resolve();
    await found.promise;
  });
  await decided.promise;
  const finding = findMany(5);
  const blocked = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%drift_seen_at = now()%'`;
  await eventually(async () => (await sync.db.query(blocked)).length > 0);
  found.resolve();
  await Promise.all([decision, finding]);
  await eventuallyInPass();
  expect(await repairing()).toBe(1);
  await eventually(async () => {
    await keepWorker();
    return (await repairing()) === 5;
  });
});

test('repairs of more than 50 of them are held until they are confirmed', async () => {
  await findMany(51);
  await untilHeld();
  expect(await destination()).toMatchObject({ repairs_held: 51 });
  const { destinations } = (await sync.call('GET', '/sys/sync/status')).body.data;
  expect(destinations[`cloudA-sm/${at.name}`].repairs_held_at).toBe((await destination()).repairs_held_at);
  expect(await repairing()).toBe(0);
  const { status, body } = await confirm();
  expect([status, body.warnings]).toEqual([200, null]);
  expect(body.data).not.toHaveProperty('repairs_held_at');
  await eventually(async () => (await repairing()) === 51);
  expect((await confirm()).body.warnings).toEqual([expect.stringContaining('nothing to confirm')]);
  const events = await sync.db.query<{ kind: string }>(
    `select kind from sync.events where kind like 'repairs\\_%'
      and destination_id = (select id from sync.destinations where name = $1) order by xid, id`,
    [at.name],
  );
  expect(events.map(({ kind }) => kind)).toEqual(['repairs_held', 'repairs_released']);
});

test('foreign external secrets count for a hold, but not for what waits for the confirmation', async () => {
  await findMany(51, 'foreign');
  await findMany(2);
  await untilHeld();
  expect(await destination()).toMatchObject({ repairs_held: 2 });
});

test('a hold ends when only foreign external secrets are left', async () => {
  await findMany(51);
  await untilHeld();
  await findMany(51, 'foreign');
  await eventually(async () => (await destination()).repairs_held_at === undefined);
  expect(await repairing()).toBe(0);
});

test('a hold ends when nothing has drifted any longer, or the policy is another one', async () => {
  await findMany(51);
  await untilHeld();
  await at.set('s');
  await eventually(async () => (await destination()).repairs_held_at === undefined);
  await sync.work();
  await findMany(51);
  await untilHeld();
  await sync.call('PATCH', at.path, { drift_policy: 'report' });
  await eventually(async () => (await destination()).repairs_held_at === undefined);
  expect(await repairing()).toBe(0);
});
