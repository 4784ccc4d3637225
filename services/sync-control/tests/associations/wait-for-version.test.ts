import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
const other = testCaller({ namespace: { id: 'none', path: 'none' } });

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  await at.write('s', { k: 'v1' });
  await at.set('s');
});

const ask = (query: string, caller = testCaller(), path = `${at.mount}/s`) =>
  sync.call('GET', `/sys/sync/associations/${path}?${query}`, undefined, caller);

const destination = () => `cloudA-sm/${at.name}`;

test('responds with 202 and what is missing, and with 200 once the version has arrived', async () => {
  const before = await ask('version=1');
  expect([before.status, before.body.data]).toEqual([
    202,
    expect.objectContaining({ version: 1, current_version: 1, missing: [destination()] }),
  ]);
  await sync.work();
  for (const query of ['version=1', 'wait=0', 'wait=60s']) {
    const { status, body } = await ask(query);
    expect([status, body.data.missing, body.warnings]).toEqual([200, [], null]);
    expect(body.data.associated_destinations[destination()].sync_status).toBe('SYNCED');
  }
});

test('waits for a version that is not written yet, and for each of the destinations', async () => {
  await sync.work();
  const { status, body } = await ask('version=2');
  expect([status, body.warnings]).toEqual([202, ['version 2 has not been written; the last one is 1']]);
  const waiting = ask('version=2&wait=60s');
  await at.write('s', { k: 'v2' });
  const answer = await sync.workDuring(waiting);
  expect([answer.status, answer.body.data.version, answer.body.data.missing]).toEqual([200, 2, []]);
});

test('a version has not arrived before its change was followed', async () => {
  await sync.work();
  await sync.db.query(
    `with secret as (
       update secrets.secrets s set current_version = 2, revision = revision + 1
         from secrets.mounts m where m.id = s.mount_id and m.path = $1 returning s.id)
     insert into secrets.versions
     select (jsonb_populate_record(v, jsonb_build_object('version', 2, 'id', gen_random_uuid()))).*
       from secrets.versions v join secret on secret.id = v.secret_id`,
    [at.mount],
  );
  expect((await ask('version=2')).status).toBe(202);
});

test('responds with 409, where and why, as soon as a destination needs the operator', async () => {
  await sync.work('fail');
  const { status, body } = await ask('version=1&wait=60s');
  expect([status, body.errors]).toEqual([
    409,
    ['version 1 does not arrive without the operator', `${destination()}: no permission`],
  ]);
  expect((await ask('version=2')).status).toBe(202); // it will be tried
});

test('a repair is waited for, unless repairs are held', async () => {
  at = await sync.fixture({ drift_policy: 'repair' });
  await at.write('s', { k: 'v1' });
  await at.set('s');
  await sync.work();
  await sync.db.query('update sync.config set disabled = true'); // nothing is repaired meanwhile
  const drift = "status = 'CLIENT_SIDE_ERROR', drift = 'changed', last_error = 'it was changed'";
  await sync.db.query(`update sync.entries set ${drift}`);
  expect((await ask('version=1')).status).toBe(202);
  await sync.db.query('update sync.repairs set held_at = now()');
  const { status, body } = await ask('version=1&wait=60s');
  expect([status, body.errors[1]]).toEqual([409, `${destination()}: it was changed`]);
  await sync.db.query('update sync.repairs set held_at = null, is_wanted = true');
  await sync.db.query('update sync.config set disabled = false');
  expect((await sync.workDuring(ask('version=1&wait=60s'))).status).toBe(200);
});

test('drift that is only reported needs the operator', async () => {
  await sync.work();
  await sync.db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR', drift = 'changed'`);
  expect((await ask('version=1&wait=60s')).status).toBe(409);
});

test('keys that are gone are waited for, unless their removal is held', async () => {
  await sync.work();
  const [marked] = await sync.db.query<{ destination_id: string }>(
    `update sync.associations
        set planned_revision = planned_revision - 1, source_removals = 1, source_gone_at = now() + interval '1 hour'
     returning destination_id`,
  );
  expect((await ask('version=1')).status).toBe(202);
  await sync.db.query(
    `insert into sync.removal_brakes (destination_id, held_at) values ($1, now())
     on conflict (destination_id) do update set held_at = now()`,
    [marked!.destination_id],
  );
  const { status, body } = await ask('version=1&wait=60s');
  expect([status, body.errors[1]]).toEqual([409, expect.stringContaining('removals are held')]);
});

test.each([
  ['disabled', 'update sync.config set disabled = true'],
  ['held, as sys/sync/status explains', `update sync.installation set other_name = 'copy'`],
])('warns while syncing is %s, because the version does not arrive meanwhile', async (state, stop) => {
  await sync.db.query(stop);
  const { status, body } = await ask('version=1');
  await sync.db.query('update sync.installation set other_name = null');
  expect([status, body.warnings]).toEqual([
    202,
    [`syncing is ${state}, so nothing is sent to any destination`],
  ]);
});

test('shows the reason only to callers that may read it in the destination', async () => {
  await sync.work('fail');
  const name = `p-${randomUUID()}`;
  const rules = { paths: [{ path: 'sys/sync/associations/*', capabilities: ['read'] }] };
  await sync.db.query(
    "insert into login.policies (namespace_id, name, source, rules) values ('root', $1, '', $2::jsonb)",
    [name, JSON.stringify(rules)],
  );
  const { status, body } = await ask('version=1', testCaller({ policies: [name] }));
  expect([status, body.errors[1]]).toEqual([409, expect.stringContaining('the reason needs read')]);
});

test('a version that was deleted does not arrive, but an older one is no reason to wait', async () => {
  await at.write('s', { k: 'v2' });
  await sync.secrets('DELETE', `/${at.mount}/data/s`);
  const { status, body } = await ask('version=2&wait=60s');
  expect([status, body.errors[1]]).toEqual([409, expect.stringContaining('version 2 was deleted')]);
  const answer = await sync.workDuring(ask('wait=60s'));
  expect([answer.status, answer.body.data.version]).toEqual([200, 1]);
});

test('returns 404 without an association, and 400 for a value that cannot be waited for', async () => {
  for (const query of ['version=1', 'wait=60s']) expect((await ask(query, other)).status).toBe(404);
  await at.remove('s');
  expect((await ask('wait=60s')).status).toBe(404);
  for (const [query, sentence] of [
    ['version=0', 'version: must be between 1 and 2147483647'],
    ['version=x', 'version: must be a whole number'],
    ['wait=61', 'wait: must be between 0s and 60s'],
    ['wait=x', 'wait: must be a duration in seconds or like 1h30m, not negative and at most 100 years'],
  ] as const) {
    const { status, body } = await ask(query);
    expect([status, body.errors]).toEqual([400, [sentence]]);
  }
});
