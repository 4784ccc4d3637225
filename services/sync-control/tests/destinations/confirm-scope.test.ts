import { beforeEach, expect, test } from '@jest/globals';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const remember = (scopeId: string) => sync.db.query('update sync.destinations set scope_id = $1', [scopeId]);
const confirm = (scope_id: unknown) => sync.call('POST', `${at.path}/confirm-scope`, { scope_id });
const revision = async () =>
  (await sync.db.query<{ revision: number }>('select revision from sync.destinations'))[0]?.revision;
const read = async () => (await sync.call('GET', at.path)).body.data;

test('the ID of the scope is shown once it is known, and no write of the destination changes it', async () => {
  expect(await read()).not.toHaveProperty('scope_id');
  await remember('1001');
  const { body } = await sync.call('POST', at.path, { scope_id: '1002' });
  expect(body.warnings).toEqual(['unknown field scope_id was ignored']);
  expect(await read()).toMatchObject({ scope_id: '1001' });
});

test('another scope is confirmed by its ID: everything is pushed again, what has failed at once', async () => {
  await at.write('s1', { k: 'v' });
  await at.set('s1');
  await sync.work();
  await remember('1001');
  const before = await revision();
  const { status, body } = await confirm('1002');
  expect([status, body.data.scope_id]).toEqual([200, '1002']);
  expect(body.warnings).toEqual(['external secrets that are still in 1001 are not removed']);
  expect(await read()).toHaveProperty('push_initiated_at');
  expect(await revision()).not.toBe(before); // so that workers close their clients of the earlier one
});

test('a scope that is confirmed again changes nothing, and without a first contact there is none to replace', async () => {
  expect((await confirm('1001')).status).toBe(409);
  await remember('1001');
  expect((await confirm('1001')).body.warnings).toEqual([
    'the destination has this scope already: there was nothing to confirm',
  ]);
});

test('the same scope confirms what the settings name within it: its IDs are forgotten, and everything is pushed again', async () => {
  await remember('1001');
  await sync.db.query(`update sync.destinations set scope_members = '{"web": "1"}'`);
  const before = await revision();
  const { status, body } = await confirm('1001');
  expect([status, body.warnings, body.data.scope_id]).toEqual([200, null, '1001']);
  expect(await read()).toHaveProperty('push_initiated_at');
  expect(await revision()).not.toBe(before);
  expect(await sync.db.query('select scope_members as ids from sync.destinations')).toEqual([{ ids: null }]);
});

test('entries of another destination that wait for names in the earlier scope are tried again', async () => {
  await at.write('db', { value: 'v' });
  const paths = ['leaving', 'waiting'].map((name) => `/sys/sync/destinations/codehost/${name}`);
  const fields = { access_token: 't', repository_owner: 'acme', repository_name: 'app' };
  for (const path of paths) {
    expect((await sync.call('POST', path, fields)).status).toBe(200);
    const secret = { mount: at.mount, secret_name: 'db' };
    expect((await sync.call('POST', `${path}/associations/set?wait=0`, secret)).status).toBe(200);
  }
  await remember('1001');
  await sync.db.query(
    `update sync.entries set status = 'CLIENT_SIDE_ERROR', fault = 'conflict', applied_generation = generation, due_at = null,
            next_attempt_at = null, announced_at = null, updated_at = now()`,
  );
  const { body } = await sync.call('POST', `${paths[0]}/confirm-scope`, { scope_id: '1002' });
  expect(body.data.scope_id).toBe('1002');
  await eventually(async () => {
    const lines = await sync.call('GET', `${paths[1]}/associations`);
    return JSON.stringify(lines.body.data.associated_secrets).includes('"sync_status":"PENDING"');
  });
});

test.each([undefined, '', 'a b', 7, 'x'.repeat(256)])('%j is not the ID of a scope', async (given) => {
  expect((await confirm(given)).status).toBe(400);
});
