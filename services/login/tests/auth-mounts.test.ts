import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

test('the type azure is another name of cloudB', async () => {
  expect((await login.call('POST', '/sys/auth/workloads', { type: 'azure' })).status).toBe(204);
  const { data } = (await login.call('GET', '/sys/auth/workloads')).body;
  expect(data).toMatchObject({ type: 'cloudB', accessor: expect.stringMatching(/^auth_cloudB_/) });
  expect((await login.call('POST', '/auth/workloads/config', { tenant_id: 't', resource: 'r' })).status).toBe(
    204,
  );
  expect((await login.call('DELETE', '/sys/auth/workloads')).status).toBe(204);
});

test('an auth mount is enabled, read and listed', async () => {
  const body = { type: 'cloudB', description: 'd' };
  expect((await login.call('POST', '/sys/auth/first', body)).status).toBe(204);
  const { data } = (await login.call('GET', '/sys/auth')).body;
  expect(data['first/']).toEqual({ ...body, accessor: expect.stringMatching(/^auth_cloudB_[0-9a-f]{8}$/) });
  const listed = (await login.call('LIST', '/sys/auth')).body.data;
  expect(listed).toEqual({ keys: Object.keys(data), key_info: data });
  expect(listed.keys).toEqual(expect.arrayContaining(['first/', 'token/']));
  expect((await login.call('GET', '/sys/auth/first')).body.data).toEqual({
    ...data['first/'],
    path: 'first/',
  });
});

test('auth mounts that do not fit on a page continue where a warning says', async () => {
  for (const path of ['paged', 'zone']) await login.call('POST', `/sys/auth/${path}`, { type: 'cloudB' });
  const first = (await login.call('LIST', '/sys/auth?limit=1&after=paged')).body;
  expect(first.data.keys).toEqual(['token/']);
  expect(first.warnings).toEqual([expect.stringMatching(/ after=token%2F$/)]);
  const rest = (await login.call('LIST', '/sys/auth?limit=1&after=token%2F')).body;
  expect(rest).toMatchObject({ data: { keys: ['zone/'] }, warnings: null });
  for (const path of ['paged', 'zone']) await login.call('DELETE', `/sys/auth/${path}`);
});

test('the mount of tokens is built in', async () => {
  const { data } = (await login.call('GET', '/sys/auth')).body;
  expect((await login.call('GET', '/sys/auth/token')).body.data).toEqual({
    ...data['token/'],
    path: 'token/',
  });
  expect((await login.call('DELETE', '/sys/auth/token')).status).toBe(400);
});

test('refuses auth mounts at, inside or above another one with 409, like mounts of secrets', async () => {
  await login.call('POST', '/sys/auth/outer/inner', { type: 'cloudB' });
  for (const path of ['outer/inner', 'outer/inner/below', 'outer']) {
    const { status, body } = await login.call('POST', `/sys/auth/${path}`, { type: 'cloudB' });
    expect([status, body.errors]).toEqual([409, ['path is already in use at outer/inner/']]);
  }
});

test('disabling an auth mount succeeds even if it does not exist', async () => {
  await login.call('POST', '/sys/auth/brief', { type: 'cloudB' });
  expect((await login.call('DELETE', '/sys/auth/brief')).status).toBe(204);
  expect((await login.call('GET', '/sys/auth/brief')).status).toBe(404);
  expect((await login.call('DELETE', '/sys/auth/brief')).status).toBe(204);
});

test.each([
  ['x', 'userpass'],
  ['token', 'cloudB'],
  ['token/x', 'cloudB'],
  ['cloudB/role', 'cloudB'],
  ['login', 'cloudB'],
  ['a/config', 'cloudB'],
  ['a b', 'cloudB'],
])('refuses to enable %s with type %s', async (path, type) => {
  expect((await login.call('POST', `/sys/auth/${path.replace(' ', '%20')}`, { type })).status).toBe(400);
});

test('the service describes its endpoints, those of login methods included, and is ready', async () => {
  const description = await login.plain('/openapi.json');
  expect(JSON.stringify(description.paths['/v1/auth/{mount}/login'])).toContain('jwt');
  expect(JSON.stringify(description.paths['/v1/auth/{mount}/role/{name}'])).toContain('bound_group_ids');
  expect(await login.plain('/readyz')).toEqual({ ready: true, missing: [] });
});
