import { beforeEach, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { insertMany } from '../../insert-many.ts';
import { eventually, type Fixture, useSyncControl } from '../../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const patch = (fields: object) => sync.call('PATCH', at.path, fields);
const hasEnded = async () => (await sync.call('GET', at.path)).body.data.push_initiated_at === undefined;
const statuses = async () =>
  sync.db.query<{ status: string; priority: number; count: number }>(
    'select status, priority, count(*)::int as count from sync.entries group by 1, 2',
  );

test.each([
  ['tags', 4_500, { custom_tags: { team: 'a' } }],
  ['replica regions', 1_500, { replica_regions: ['eu-west-1'] }],
  ['the key', 1_500, { kms_key_id: 'alias/a' }],
  ['the key of the value', 1_500, { value_key: 'text' }],
])('changed settings reach every external secret in the background: %s', async (_what, count, change) => {
  await insertMany(sync.db, { destination: at.name, count, status: 'SYNCED' });
  const { body } = await patch(change);
  expect(body.data).toMatchObject({
    push_initiated_at: expect.stringMatching(/^\d{4}-/),
    push_remaining: expect.any(Number),
  });
  await eventually(hasEnded);
  expect(await statuses()).toEqual([{ status: 'PENDING', priority: 2, count }]);
});

test.each([
  ['nothing', {}],
  ['credentials', { access_key_id: 'A', secret_access_key: 's' }],
  ['tags that are already set', { custom_tags: { b: '2', a: '1' } }],
  ['what only concerns removals', { recovery_window_days: 7 }],
])('an update of %s pushes nothing again', async (_what, change) => {
  await patch({ custom_tags: { a: '1', b: '2' } });
  await eventually(hasEnded);
  await insertMany(sync.db, { destination: at.name, count: 3, status: 'SYNCED' });
  const { body } = await patch(change);
  expect(body.data).not.toHaveProperty('push_initiated_at');
  expect(await statuses()).toEqual([{ status: 'SYNCED', priority: 0, count: 3 }]);
});

test('entries that wait for their next attempt, or for the operator, keep waiting', async () => {
  const id = await insertMany(sync.db, { destination: at.name, count: 3, status: 'EXTERNAL_SERVICE_ERROR' });
  await sync.db.query(
    `update sync.entries set applied_generation = 0, attempts = 3, next_attempt_at = now() + interval '1 hour',
            due_at = now() + interval '1 hour' where destination_id = $1`,
    [id],
  );
  await patch({ custom_tags: { a: '1' } });
  await eventually(hasEnded);
  expect(await sync.db.query('select distinct status, attempts from sync.entries')).toEqual([
    { status: 'EXTERNAL_SERVICE_ERROR', attempts: 3 },
  ]);
});

describe('a retry of all', () => {
  const retry = (body: object) => sync.call('POST', `${at.path}/retry`, body);
  const entries = () =>
    sync.db.query(
      'select status, verify, overwrite, count(*)::int as count from sync.entries group by 1, 2, 3',
    );

  test('compares every external secret, also of entries that wait or have failed', async () => {
    const count = 1_500;
    await insertMany(sync.db, { destination: at.name, count, status: 'SYNCED' });
    await sync.db.query(
      `update sync.entries set status = 'EXTERNAL_SERVICE_ERROR', applied_generation = 0, attempts = 3,
              next_attempt_at = now() + interval '1 hour', due_at = now() + interval '1 hour'
        where id = any(array(select id from sync.entries order by collision_key limit 20))`,
    );
    const { status, body } = await retry({ all: true });
    expect({ status, data: body.data }).toMatchObject({ status: 200, data: { push_remaining: count } });
    await eventually(hasEnded);
    expect(await entries()).toEqual([{ status: 'PENDING', verify: true, overwrite: false, count }]);
  });

  test('replaces foreign external secrets only if it is to overwrite', async () => {
    await insertMany(sync.db, { destination: at.name, count: 3, status: 'SYNCED' });
    expect((await retry({ all: true, overwrite: true })).status).toBe(200);
    await eventually(hasEnded);
    expect(await entries()).toEqual([{ status: 'PENDING', verify: true, overwrite: true, count: 3 }]);
  });

  test('still compares everything after a changed setting has begun the push anew, and no later push does', async () => {
    await insertMany(sync.db, { destination: at.name, count: 1_500, status: 'SYNCED' });
    await retry({ all: true });
    await patch({ custom_tags: { team: 'a' } });
    await eventually(hasEnded);
    expect(await entries()).toEqual([{ status: 'PENDING', verify: true, overwrite: false, count: 1_500 }]);
    await sync.db.query(
      `update sync.entries set status = 'SYNCED', verify = false, applied_generation = generation`,
    );
    await patch({ custom_tags: { team: 'b' } });
    await eventually(hasEnded);
    expect(await entries()).toEqual([{ status: 'PENDING', verify: false, overwrite: false, count: 1_500 }]);
  });

  test('overwrites only for a caller who may in a set', async () => {
    const request = ['POST', `${at.path}/retry`, { all: true, overwrite: true }] as const;
    const { status, body } = await sync.call(
      ...request,
      testCaller({ policies: ['operator'], grants: ['update'] }),
    );
    expect({ status, body }).toMatchObject({
      status: 403,
      body: {
        errors: ["overwrite: the destination's conflict_policy is refuse, so overwrite requires sudo"],
      },
    });
    expect(
      (await sync.call(...request, testCaller({ policies: ['operator'], grants: ['update', 'sudo'] })))
        .status,
    ).toBe(200);
  });

  test('refuses to overwrite without all, naming the field', async () => {
    const { status, body } = await retry({ overwrite: true });
    expect({ status, body }).toMatchObject({ status: 400, body: { errors: ['overwrite: requires all'] } });
  });
});
