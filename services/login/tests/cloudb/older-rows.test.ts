import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { oid } from '../login-for-test.ts';
import { type CloudBWithTable, startCloudBWithTable } from './decision/cloudb-with-table.ts';
import { machine } from './decision/row.ts';
import { machineId, subscription, systemToken } from './decision/world.ts';

// Rows that another version has written, which knew fewer fields, or more (CONTRIBUTING.md#old-and-new-versions-side-by-side).

let cloudB: CloudBWithTable;
beforeAll(async () => {
  cloudB = await startCloudBWithTable({ rowsAreBound: false });
});
afterAll(() => cloudB.stop());

/** Stores these settings in a table of settings. A change of the mount lets logins notice that. */
async function store(table: string, settings: unknown): Promise<void> {
  await cloudB.service.db.query(`update login.${table} set settings = $1::jsonb`, [JSON.stringify(settings)]);
  await cloudB.service.call('POST', '/sys/auth/cloudB/tune', { description: randomUUID() });
}
const newer = { newer_list: ['x'], newer_number: 1 };
const read = async (path: string) => (await cloudB.service.call('GET', path)).body.data;

test('a role with fewer fields and unknown ones admits logins and renewals, and shows defaults', async () => {
  const path = '/auth/cloudB/role/web';
  await cloudB.writeRole('web', {
    bound_service_principal_ids: '',
    policies: '',
    token_ttl: 0,
    bound_group_ids: 'g',
  });
  const whole = await read(path);
  await store('cloudb_roles', { bound_service_principal_ids: [oid], ...newer });
  const loggedIn = await cloudB.logInWith({});
  expect([loggedIn.status, loggedIn.body.auth.policies]).toEqual([200, ['default']]);
  const caller = cloudB.service.callerOf(loggedIn);
  expect((await cloudB.service.call('POST', '/auth/token/renew-self', {}, caller)).status).toBe(200);
  expect(await read(path)).toEqual({ ...whole, bound_group_ids: [], bound_service_principal_ids: [oid] });
});

test('a write to such a role keeps the unknown fields, without which it would admit more', async () => {
  await cloudB.writeRole('web', { token_ttl: 60 });
  const [row] = await cloudB.service.db.query('select settings from login.cloudb_roles');
  expect(row).toEqual({ settings: expect.objectContaining({ ...newer, token_ttl: 60 }) });
});

test('a role that has no other field binds a place', async () => {
  const names = { bound_subscription_ids: [subscription] };
  await store('cloudb_roles', names);
  const web1 = systemToken(machineId('web-1'));
  const { status } = await cloudB.logInFrom(web1, { role: 'web', ...machine('web-1') });
  expect(status).toBe(200);
});

test('a configuration with fewer fields and unknown ones admits logins, and shows defaults', async () => {
  const path = '/auth/cloudB/config';
  const reset = { client_id: null, client_secret: null, max_retries: null };
  await cloudB.service.call('PATCH', path, reset);
  const { environment: _, ...whole } = await read(path);
  await store('cloudb_configs', { tenant_id: whole.tenant_id, resource: whole.resource, ...newer });
  await store('cloudb_roles', { bound_service_principal_ids: [oid] });
  expect((await cloudB.logInWith({})).status).toBe(200);
  expect(await read(path)).toEqual({ ...whole, environment: 'public' });
});

test('a token role with fewer fields and unknown ones creates tokens, and shows defaults', async () => {
  const path = '/auth/token/roles/ci';
  await cloudB.service.call('POST', path, { period: 60, allowed_policies: 'a' });
  await cloudB.service.call('POST', path, { period: 0, allowed_policies: '' });
  const whole = await read(path);
  await store('token_roles', newer);
  expect(await read(path)).toEqual(whole);
  const { status, body } = await cloudB.service.call('POST', '/auth/token/create/ci', { policies: 'a' });
  expect([status, body.auth?.policies]).toEqual([200, ['a', 'default']]);
});

/** The refusal of everything that depends on a stored value which no request could have set. */
const unreadable = (object: string, field: string) => ({
  status: 409,
  body: {
    errors: [expect.stringMatching(`^${object}: the stored ${field} is not valid, so write it again: .`)],
  },
});
const call = (method: string, path: string, body?: object) => cloudB.service.call(method, path, body);

test.each([
  ['bound_group_ids', 5, []],
  ['bound_group_ids', null, []],
  ['bound_group_ids', [1], []],
  ['token_policies', { a: 1 }, 'dev'],
  ['token_ttl', 'soon', 60],
  ['token_type', 'newer', 'batch'],
])(
  'a role whose %s is stored as %j admits nobody, until that is written again',
  async (field, value, good) => {
    await store('cloudb_roles', { bound_service_principal_ids: [oid] });
    const loggedIn = await cloudB.logInWith({});
    expect(loggedIn.status).toBe(200);
    await store('cloudb_roles', { bound_service_principal_ids: [oid], [field]: value });
    const expected = unreadable('role web', field);
    expect(await cloudB.logInWith({})).toMatchObject(expected);
    expect(await call('GET', '/auth/cloudB/role/web')).toMatchObject(expected);
    const caller = cloudB.service.callerOf(loggedIn);
    expect(await cloudB.service.call('POST', '/auth/token/renew-self', {}, caller)).toMatchObject(expected);
    const jwt = await cloudB.issueJwt();
    expect(await call('POST', '/auth/cloudB/diagnose', { role: 'web', jwt })).toMatchObject(expected);
    expect(await cloudB.writeRole('web', { max_token_age: 0 })).toMatchObject(unreadable('the role', field));
    expect((await call('POST', '/auth/cloudB/config/check', {})).status).toBe(200);
    expect((await cloudB.writeRole('web', { [field]: good })).status).toBe(204);
    expect((await cloudB.logInWith({})).status).toBe(200);
  },
);

test.each([
  ['resource', undefined],
  ['environment', 'moon'],
  ['given_environment', 5],
  ['given_tenant', 5],
  ['max_retries', 'x'],
  ['require_principal_binding', 'maybe'],
])(
  'a configuration whose %s is stored as %j is not used, until that is written again',
  async (field, value) => {
    const { tenantId } = cloudB.sandbox;
    const good = { tenant_id: tenantId, resource: 'https://management.example/' };
    await store('cloudb_roles', { bound_service_principal_ids: [oid] });
    await store('cloudb_configs', { ...good, [field]: value });
    const expected = unreadable('the configuration of this auth mount', field);
    expect(await cloudB.logInWith({})).toMatchObject(expected);
    expect(await call('GET', '/auth/cloudB/config')).toMatchObject(expected);
    expect(await cloudB.writeRole('web', { max_token_age: 0 })).toMatchObject(expected);
    const rewritten = { environment: 'public', max_retries: 1, require_principal_binding: true };
    expect((await call('POST', '/auth/cloudB/config', { ...good, ...rewritten })).status).toBe(204);
    expect((await cloudB.logInWith({})).status).toBe(200);
  },
);

test('a token role with such a value creates no token, until that is written again', async () => {
  const path = '/auth/token/roles/ci';
  const expected = unreadable('token role ci', 'allowed_policies');
  await store('token_roles', { allowed_policies: 7 });
  expect(await call('GET', path)).toMatchObject(expected);
  expect(await call('POST', '/auth/token/create/ci', {})).toMatchObject(expected);
  expect(await call('POST', path, { period: 60 })).toMatchObject(
    unreadable('the token role', 'allowed_policies'),
  );
  expect((await call('POST', path, { allowed_policies: 'a' })).status).toBe(204);
  expect((await call('POST', '/auth/token/create/ci', {})).body.auth.policies).toEqual(['a', 'default']);
});

test.each([[[]], ['text'], [5], [null]])('settings that are stored as %j are refused', async (settings) => {
  await store('token_roles', settings);
  expect(await call('GET', '/auth/token/roles/ci')).toMatchObject({
    status: 409,
    body: { errors: ['token role ci: is not stored as an object; write it again'] },
  });
});
