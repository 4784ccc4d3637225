import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl({ reconcileSeconds: 0.2 });
let at: Fixture;
const secrets = 60;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const nameOf = (index: number) => `s${index}`;

async function syncSecrets(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await at.write(nameOf(index), { k: 'v' });
    await at.set(nameOf(index));
  }
  await sync.work();
}

const destination = async () => (await sync.call('GET', at.path)).body.data;
const removals = async () =>
  (await sync.db.query(`select id from sync.entries where desired = 'absent'`)).length;
const isHeld = async () => (await destination()).removals_held_at !== undefined;
/** Waits for two rounds of the reconciliation: one that began earlier may have compared some secrets already. */
async function rounds(): Promise<void> {
  const started = async () => {
    const [row] = await sync.db.query<{ started: Date }>(
      'select started_at as started from sync.reconciliation where not running',
    );
    return row?.started.getTime() ?? 0;
  };
  for (let round = 0; round < 2; round += 1) {
    const before = Date.now();
    await eventually(async () => (await started()) > before);
  }
}
const emptySecrets = () => sync.db.query('delete from secrets.secrets');
const confirm = () => sync.call('POST', `${at.path}/confirm-removals`);
const deleteMetadata = (index: number) => sync.secrets('DELETE', `/${at.mount}/metadata/${nameOf(index)}`);

describe('an emptied secrets schema', () => {
  beforeEach(async () => {
    await syncSecrets(secrets);
    await emptySecrets();
    await eventually(isHeld);
    await rounds();
  });

  test('removes nothing until the operator confirms it', async () => {
    expect(await destination()).toMatchObject({
      removals_held_at: expect.stringMatching(/^\d{4}-/),
      removals_held: secrets,
    });
    expect([await removals(), await sync.work()]).toEqual([0, 0]);
    const { status, body } = await confirm();
    expect([status, body.warnings]).toEqual([200, null]);
    expect(body.data).not.toHaveProperty('removals_held_at');
    await eventually(async () => (await removals()) === secrets);
    await sync.work();
    expect(await at.lines()).toEqual({});
  });

  test('still lets the API remove associations', async () => {
    expect((await at.remove(nameOf(1))).status).toBe(200);
    expect(await removals()).toBe(1);
    expect(await destination()).toMatchObject({ removals_held: secrets - 1 });
  });
});

test('ends the hold without a removal when the secrets come back', async () => {
  await syncSecrets(secrets);
  await sync.db.query('create table public.saved as select * from secrets.secrets');
  await sync.db.query('create table public.saved_versions as select * from secrets.versions');
  await emptySecrets();
  await eventually(isHeld);
  await sync.db.query('insert into secrets.secrets select * from public.saved');
  await sync.db.query('insert into secrets.versions select * from public.saved_versions');
  await eventually(async () => !(await isHeld()));
  await rounds();
  expect(await removals()).toBe(0);
});

test('an approval that was being made does not cover what a round marks meanwhile', async () => {
  await syncSecrets(secrets);
  const id = (await sync.db.query<{ id: string }>('select id from sync.destinations'))[0]!.id;
  const locked = Promise.withResolvers<void>();
  const marking = Promise.withResolvers<void>();
  const approval = sync.db.transaction(async (tx) => {
    await tx.query('insert into sync.removal_brakes (destination_id) values ($1)', [id]);
    locked.resolve();
    await marking.promise;
    await tx.query(
      'update sync.removal_brakes set approved_at = clock_timestamp() where destination_id = $1',
      [id],
    );
  });
  await locked.promise;
  await emptySecrets();
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%removal_brakes%'`;
  await eventually(async () => (await sync.db.query(waiting)).length > 0);
  marking.resolve();
  await approval;
  await eventually(async () => (await destination()).removals_held === secrets);
  expect(await removals()).toBe(0);
});

test('a few secrets that are gone without an event are removed after a round', async () => {
  await syncSecrets(10);
  await sync.db.query(`delete from secrets.secrets where path in ('s1', 's2')`);
  await eventually(async () => (await removals()) === 2);
  expect(await isHeld()).toBe(false);
});

test('a few deletions are followed, and what they remove stays recoverable in the store', async () => {
  await syncSecrets(10);
  for (let index = 0; index < 9; index += 1) await deleteMetadata(index);
  await eventually(async () => (await removals()) === 9);
  expect(await isHeld()).toBe(false);
  const rows = await sync.db.query<{ recoverable: boolean }>(
    `select distinct is_recoverable as recoverable from sync.entries where desired = 'absent'`,
  );
  expect(rows).toEqual([{ recoverable: true }]);
});

test('nothing is removed after small steps within an hour that add up', async () => {
  await syncSecrets(20);
  for (let index = 0; index < 9; index += 1) await deleteMetadata(index);
  await eventually(async () => (await removals()) === 9);
  await deleteMetadata(9);
  await eventually(isHeld);
  expect(await removals()).toBe(9);
});

test.each([3, secrets])(
  'a disabled mount with %i secrets removes nothing until it is confirmed',
  async (count) => {
    await syncSecrets(count);
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
    await eventually(async () => (await destination()).removals_held === count);
    expect(await removals()).toBe(0);
    await confirm();
    await eventually(async () => (await removals()) === count);
  },
);

test('a removal that was requested leaves nothing recoverable', async () => {
  await syncSecrets(1);
  await at.remove(nameOf(0));
  const rows = await sync.db.query(`select from sync.entries where desired = 'absent' and is_recoverable`);
  expect(rows).toEqual([]);
});

test('many keys that a change removes are held, while the others are still pushed', async () => {
  at = await sync.fixture({ granularity: 'secret-key' });
  const keys = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
  await at.write('a', keys(secrets, '1'));
  await at.set('a');
  await sync.work();
  await at.write('a', { ...keys(5, '2'), added: '3' });
  await eventually(async () => (await destination()).removals_held === secrets - 5);
  expect(await removals()).toBe(0);
  expect((await at.lines())[`${at.accessor}/a/added`]).toMatchObject({ sync_status: 'PENDING' });
  await confirm();
  await eventually(async () => (await removals()) === secrets - 5);
});

test('an association of an unknown type does not keep the others from being followed', async () => {
  await syncSecrets(1);
  const [association] = await sync.db.query<{ secret: string }>(
    'select secret_id as secret from sync.associations',
  );
  const id = randomUUID();
  await sync.db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', 'cloudX', $1::text, '{"granularity": "secret-key"}')`,
    [id],
  );
  await sync.db.query(
    `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ('00000000-0000-0000-0000-000000000001', $1, 'root', $1, 'kv', 'kv_1', $2, 's', 0)`,
    [id, association!.secret],
  );
  await sync.db.query(`update secrets.secrets set revision = revision + 1`); // a change without an event
  await eventually(async () =>
    Object.values(await at.lines()).every(({ sync_status: status }) => status === 'PENDING'),
  );
  const { body } = await sync.call('LIST', '/sys/sync/destinations');
  expect(body.data).toEqual({
    key_info: { 'cloudA-sm/': [at.name] },
    keys: ['cloudA-sm/'],
    total_destinations: 1,
  });
});

test('confirming warns if nothing is held, and needs `update` and an existing destination', async () => {
  const { status, body } = await confirm();
  expect([status, body.warnings]).toEqual([
    200,
    ['this destination holds no removals: there was nothing to confirm'],
  ]);
  const path = `${at.path}/confirm-removals`;
  expect(
    (await sync.call('POST', path, {}, testCaller({ policies: ['ci'], grants: ['create'] }))).status,
  ).toBe(403);
  expect((await sync.call('POST', `${at.path}-none/confirm-removals`)).status).toBe(404);
});
