import { beforeEach, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { insertMany } from '../insert-many.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  await sync.db.query('delete from sync.lanes');
  at = await sync.fixture();
});

const path = '/sys/sync/status';
const admin = testCaller({ namespace: { id: 'admin', path: 'admin' } });
const read = (query = '', caller = testCaller()) => sync.call('GET', `${path}${query}`, undefined, caller);
const statusOf = async (name = at.name) => (await read()).body.data.destinations[`cloudA-sm/${name}`];
const confirm = (caller = testCaller()) => sync.call('POST', '/sys/sync/confirm-installation', {}, caller);
const pause = (seconds: number, reason: string) =>
  sync.db.query(
    `insert into sync.destination_health (destination_id, destination_type, failures, reason, paused_until)
     select id, type, 1, $2, now() + $1 * interval '1 second' from sync.destinations where name = $3`,
    [seconds, reason, at.name],
  );

async function setSecrets(...names: string[]): Promise<void> {
  for (const name of names) {
    await at.write(name, { k: 'v' });
    await at.set(name);
  }
}

test('a new destination is open, and has nothing in it', async () => {
  const { status, body } = await read();
  expect([status, body.warnings]).toEqual([200, null]);
  expect(body.data).toEqual({
    disabled: false,
    held_because: null,
    pending: 0,
    queue_capacity: 1_000_000,
    destinations: {
      [`cloudA-sm/${at.name}`]: {
        type: 'cloudA-sm',
        name: at.name,
        entries: {},
        drifted: {},
        associations_with_unsyncable_keys: 0,
        queue: { due: 0, scheduled: 0, in_progress: 0, oldest_due_seconds: null },
        state: 'open',
        reason: null,
        paused_until: null,
        throttled_until: null,
        window: 2,
        work: [],
        background_error: null,
        removals_held_at: null,
        removals_held: 0,
        repairs_held_at: null,
      },
    },
  });
});

test('entries are counted by status', async () => {
  await setSecrets('a', 'b');
  await sync.work();
  await setSecrets('c');
  await sync.work('fail');
  await sync.call('PATCH', '/sys/sync/config', { disabled: true, queue_capacity: 100 });
  await setSecrets('d');
  expect((await statusOf()).entries).toEqual({ SYNCED: 2, CLIENT_SIDE_ERROR: 1, PENDING: 1 });
  expect((await read()).body.data).toMatchObject({
    disabled: true,
    pending: 1,
    queue_capacity: 100,
  });
});

test('external secrets that have drifted are counted by kind, up to 10,000', async () => {
  await insertMany(sync.db, { destination: at.name, count: 10_004, status: 'CLIENT_SIDE_ERROR' });
  const drift = (kind: string, condition: string) =>
    sync.db.query(
      `update sync.entries e set drift = $1, drift_seen_at = now() from sync.associations a
        where a.id = e.association_id and ${condition}`,
      [kind],
    );
  await drift('missing', `secret_name in ('many1', 'many2')`);
  await drift('foreign', `secret_name = 'many3'`);
  expect((await statusOf()).drifted).toEqual({ missing: 2, foreign: 1 });
  await drift('changed', 'drift is null');
  expect((await statusOf()).drifted).toEqual({ changed: 10_000, missing: 2, foreign: 1 });
});

test('numbers stop at 10,000, with a warning', async () => {
  await insertMany(sync.db, { destination: at.name, count: 10_001, status: 'SYNCED' });
  const { body } = await read();
  expect(body.data.destinations[`cloudA-sm/${at.name}`].entries).toEqual({ SYNCED: 10_000 });
  expect(body.warnings).toEqual(['the numbers of a destination are counted up to 10000; there may be more']);
});

test('a pause is shown with its reason, and what waits for its end with its age', async () => {
  await pause(60, 'unauthenticated');
  await setSecrets('a');
  let status = await statusOf();
  // The set has ended the pause, so the scheduler may just be admitting the entry.
  await eventually(async () => {
    await sync.db.query(`update sync.destination_health set paused_until = now() + interval '1 minute'`);
    await sync.db.query(
      `update sync.entries set due_at = now() - interval '30 seconds', announced_at = null, lease_until = null`,
    );
    status = await statusOf();
    return status.queue.due === 1;
  });
  expect(status).toMatchObject({
    state: 'paused',
    reason: 'the provider refuses the credentials',
    paused_until: expect.stringMatching(/^\d{4}-/),
    throttled_until: null,
    window: 0,
    queue: { due: 1, scheduled: 0, in_progress: 0 },
  });
  expect(status.queue.oldest_due_seconds).toBeGreaterThanOrEqual(30);
});

test('throttling of the account is shown for all of its destinations', async () => {
  await sync.db.query(
    `update sync.lanes set failures = 1, reason = 'throttled', paused_until = now() + interval '1 minute'`,
  );
  const { throttled_until: until, ...status } = await statusOf();
  expect(status).toMatchObject({ state: 'paused', reason: 'the provider throttles this account' });
  expect(until).toBe(status.paused_until);
});

test('held removals, work in progress and its failure are shown', async () => {
  const id = await insertMany(sync.db, { destination: at.name, count: 3, status: 'SYNCED' });
  await sync.db.query('update sync.associations set source_gone_at = now(), source_removals = 2');
  await sync.db.query('insert into sync.removal_brakes (destination_id, held_at) values ($1, now())', [id]);
  await sync.db.query(
    `update sync.destinations set replan_initiated_at = now(), replan_leased_until = 'infinity', background_error = 'no room'`,
  );
  expect(await statusOf()).toMatchObject({
    removals_held_at: expect.stringMatching(/^\d{4}-/),
    removals_held: 6,
    work: ['replan'],
    background_error: 'no room',
  });
});

test('keys that cannot be synced are counted', async () => {
  await insertMany(sync.db, { destination: at.name, count: 3, status: 'SYNCED' });
  await sync.db.query(
    `update sync.associations set unnamed_keys = '[{"key":"k","reason":"r"}]' where secret_name in ('many1', 'many2')`,
  );
  expect((await statusOf()).associations_with_unsyncable_keys).toBe(2);
});

test('a namespace sees only its own destinations, and the state of the queue', async () => {
  const other = await sync.fixture({}, admin);
  await sync.call('PATCH', '/sys/sync/config', { queue_capacity: 100 });
  await setSecrets('a');
  const names = async (caller = testCaller()) => Object.keys((await read('', caller)).body.data.destinations);
  expect(await names()).toEqual([`cloudA-sm/${at.name}`]);
  expect(await names(admin)).toEqual([`cloudA-sm/${other.name}`]);
  expect((await read('', testCaller({ namespace: { id: 'none', path: 'none' } }))).body.data).toMatchObject({
    pending: 1,
    destinations: {},
  });
});

test('destinations are listed in pages', async () => {
  for (let count = 0; count < 2; count += 1) await sync.fixture();
  const all = Object.keys((await read()).body.data.destinations);
  expect(all).toHaveLength(3);
  const first = (await read('?limit=2')).body;
  expect(Object.keys(first.data.destinations)).toEqual(all.slice(0, 2));
  expect(first.data.next).toBe(all[1]);
  expect(first.warnings).toEqual([expect.stringContaining('after=')]);
  const { data } = (await read(`?limit=2&after=${encodeURIComponent(all[1]!)}`)).body;
  expect([Object.keys(data.destinations), data.next]).toEqual([[all[2]], undefined]);
});

test.each([
  ['limit=51', 'limit: must be at most 50'],
  ['after=x', 'after: must be <type>/<name>'],
])('%s is refused', async (query, error) => {
  const { status, body } = await read(`?${query}`);
  expect([status, body.errors]).toEqual([400, [error]]);
});

test('while syncing is held, the status says why and no destination can be checked, until somebody confirms', async () => {
  await sync.db.query(`update sync.installation set name = 'prod', other_name = 'copy'`);
  await sync.db.query('update sync.inspections set due_at = null');
  const { data, warnings } = (await read()).body;
  expect(data).toMatchObject({ disabled: false, held_because: 'installation' });
  expect(warnings).toEqual([
    expect.stringMatching('started with INSTALLATION=copy, but the database belongs to prod'),
  ]);
  const { status, body } = await sync.call('POST', `${at.path}/check`, {});
  expect([status, body.errors]).toEqual([409, [expect.stringMatching('^syncing is held')]]);
  const team = testCaller({ namespace: { id: 'team', path: 'team' } });
  expect((await confirm(team)).status).toBe(404);
  const confirmed = await confirm();
  expect([confirmed.body.data, confirmed.body.warnings]).toEqual([
    { installation: 'prod', held_because: null },
    null,
  ]);
  expect(await sync.db.query('select from sync.inspections where due_at is null')).toEqual([]);
  expect((await read()).body.data.held_because).toBeNull();
  expect((await confirm(admin)).body.warnings).toEqual([
    'syncing was not held: there was nothing to confirm',
  ]);
});

test('a destination shows while syncing is held why, with a warning that says what to do', async () => {
  const shown = async () => {
    const { data, warnings } = (await sync.call('GET', at.path)).body;
    return [data.held_because, warnings];
  };
  await sync.db.query(`update sync.installation set name = 'prod', other_name = 'copy'`);
  expect(await shown()).toEqual([
    'installation',
    [expect.stringMatching('^syncing is held.*INSTALLATION=copy.*confirm-installation')],
  ]);
  await confirm();
  expect(await shown()).toEqual([undefined, null]);
});

test('a set while syncing is held warns that it waits, and says what to do', async () => {
  await sync.db.query(`update sync.installation set name = 'prod', other_name = 'copy'`);
  await at.write('s', { k: 'v' });
  const body = { mount: at.mount, secret_name: 's' };
  const set = () => sync.call('POST', `${at.path}/associations/set?wait=0`, body);
  expect((await set()).body.warnings).toEqual([
    expect.stringMatching('^syncing is held.*confirm-installation'),
  ]);
  await confirm();
  expect((await set()).body.warnings).toBeNull();
});
