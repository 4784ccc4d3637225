import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

test('the type azure is another name of cloudB, and shown if it was given', async () => {
  expect((await login.call('POST', '/sys/auth/workloads', { type: 'azure' })).status).toBe(204);
  const { data } = (await login.call('GET', '/sys/auth/workloads')).body;
  expect(data).toMatchObject({ type: 'azure', accessor: expect.stringMatching(/^auth_cloudB_/) });
  expect((await login.call('POST', '/auth/workloads/config', { tenant_id: 't', resource: 'r' })).status).toBe(
    204,
  );
  expect((await login.call('DELETE', '/sys/auth/workloads')).status).toBe(204);
});

test('an auth mount is enabled, read and listed', async () => {
  const body = { type: 'cloudB', description: 'd' };
  expect((await login.call('POST', '/sys/auth/first', body)).status).toBe(204);
  const { data } = (await login.call('GET', '/sys/auth')).body;
  expect(data['first/']).toEqual({
    ...body,
    accessor: expect.stringMatching(/^auth_cloudB_[0-9a-f]{8}$/),
    config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false, token_type: 'default-service' },
    options: {},
    external_entropy_access: false,
    local: false,
    seal_wrap: false,
    plugin_version: '',
    deprecation_status: 'supported',
    running_plugin_version: '',
    running_sha256: '',
    uuid: expect.any(String),
  });
  const listed = (await login.call('LIST', '/sys/auth')).body.data;
  expect(listed).toEqual({ keys: Object.keys(data), key_info: data });
  expect(listed.keys).toEqual(expect.arrayContaining(['first/', 'token/']));
  expect((await login.call('GET', '/sys/auth/first')).body.data).toEqual({
    ...data['first/'],
    path: 'first/',
  });
});

test('everything that a client says about an auth mount is shown as it was said, without a warning', async () => {
  const config = {
    listing_visibility: 'unauth',
    audit_non_hmac_request_keys: ['b', 'a'],
    token_type: 'default-service',
    identity_token_key: 'default',
  };
  const flags = { local: true, seal_wrap: true, external_entropy_access: true, plugin_version: 'v1.2.3' };
  const body = { type: 'azure', options: { one: '1' }, ...flags };
  const leases = { default_lease_ttl: '60s', max_lease_ttl: '', force_no_cache: false, options: null };
  const passthrough_request_headers = ['X-One'];
  const enabled = await login.call('POST', '/sys/auth/said', {
    ...body,
    config: { ...config, ...leases, passthrough_request_headers },
  });
  expect(enabled.status).toBe(204);
  const applied = { default_lease_ttl: 60, max_lease_ttl: 0, passthrough_request_headers };
  const shown = { ...body, config: { ...config, ...applied } };
  for (const path of ['/sys/auth/said', '/sys/mounts/auth/said'])
    expect((await login.call('GET', path)).body.data).toMatchObject(shown);
  expect((await login.call('GET', '/sys/auth')).body.data['said/']).toMatchObject(shown);
  const change = { passthrough_request_headers: null, listing_visibility: 'hidden', options: {} };
  expect((await login.call('POST', '/sys/mounts/auth/said/tune', change)).status).toBe(204);
  const tuned = (await login.call('GET', '/sys/mounts/auth/said/tune')).body.data;
  expect(tuned).toMatchObject({
    ...config,
    ...flags,
    listing_visibility: 'hidden',
    options: {},
  });
  expect(tuned).not.toHaveProperty('passthrough_request_headers');
  await login.call('DELETE', '/sys/auth/said');
});

test.each([
  ['token_type', { token_type: 'batch' }],
  ['identity_token_key', { identity_token_key: 'mine' }],
  ['user_lockout_config', { user_lockout_config: { lockout_threshold: '3' } }],
  ['listing_visibility', { listing_visibility: 'public' }],
  ['allowed_response_headers', { allowed_response_headers: Array.from({ length: 101 }, () => 'X-One') }],
  ['passthrough_request_headers', { passthrough_request_headers: ['a\u0000'] }],
])(
  'refuses what would promise something that does not happen, or is too large: %s',
  async (field, config) => {
    const { status, body } = await login.call('POST', '/sys/auth/promise', { type: 'azure', config });
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(`${field}: `)]);
  },
);

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

describe('the settings of a mount', () => {
  const tunePath = '/sys/auth/a/b/tune';
  const tune = (body: object) => login.call('POST', tunePath, body);
  const settings = async () => (await login.call('GET', tunePath)).body.data;

  test('are those of the system until they are changed, and keep what a change omits', async () => {
    await login.call('POST', '/sys/auth/a/b', { type: 'cloudB', description: 'd' });
    const system = { default_lease_ttl: 768 * 3_600, max_lease_ttl: 768 * 3_600 };
    expect(await settings()).toMatchObject({ description: 'd', ...system });
    expect((await tune({ max_lease_ttl: '2h' })).status).toBe(204);
    expect(await settings()).toMatchObject({
      description: 'd',
      default_lease_ttl: 7_200,
      max_lease_ttl: 7_200,
    });
    await tune({ default_lease_ttl: 60, description: 'e' });
    expect(await settings()).toMatchObject({ description: 'e', default_lease_ttl: 60, max_lease_ttl: 7_200 });
    const { data } = (await login.call('GET', '/sys/auth/a/b')).body;
    expect(data.config).toMatchObject({ default_lease_ttl: 60, max_lease_ttl: 7_200 });
    await tune({ default_lease_ttl: 0, max_lease_ttl: 0 });
    expect(await settings()).toMatchObject({ description: 'e', ...system });
  });

  test.each([
    [{ max_lease_ttl: '769h' }, 'max_lease_ttl: must not exceed 768h'],
    [{ max_lease_ttl: 60, default_lease_ttl: 61 }, 'default_lease_ttl: must not exceed max_lease_ttl'],
    [{ max_lease_ttl: -1 }, expect.stringMatching(/^max_lease_ttl: /)],
  ])('are refused: %j', async (body, sentence) => {
    const refused = [
      await tune(body),
      await login.call('POST', '/sys/auth/z', { type: 'cloudB', config: body }),
    ];
    for (const { status, body: response } of refused)
      expect([status, response.errors[0].replace(/^config\./, '')]).toEqual([400, sentence]);
  });

  test('are kept by an empty text, and restored by the word system', async () => {
    await login.call('POST', '/sys/auth/words', { type: 'cloudB' });
    const path = '/sys/auth/words/tune';
    await login.call('POST', path, { default_lease_ttl: '1h', max_lease_ttl: '2h' });
    expect((await login.call('POST', path, { default_lease_ttl: '', max_lease_ttl: '' })).status).toBe(204);
    const limits = async () => (await login.call('GET', path)).body.data;
    expect(await limits()).toMatchObject({ default_lease_ttl: 3_600, max_lease_ttl: 7_200 });
    await login.call('POST', path, { default_lease_ttl: 'system', max_lease_ttl: 'system' });
    expect(await limits()).toMatchObject({ default_lease_ttl: 2_764_800, max_lease_ttl: 2_764_800 });
  });

  test('have a second path, which clients use', async () => {
    await login.call('POST', '/sys/auth/second/path', { type: 'cloudB' });
    const path = '/sys/mounts/auth/second/path/tune';
    expect((await login.call('POST', path, { max_lease_ttl: '3h' })).status).toBe(204);
    expect((await login.call('GET', path)).body.data.max_lease_ttl).toBe(10_800);
  });

  test('can be given when it is enabled', async () => {
    await login.call('POST', '/sys/auth/given', { type: 'cloudB', config: { max_lease_ttl: '1h' } });
    expect((await login.call('GET', '/sys/auth/given/tune')).body.data.max_lease_ttl).toBe(3_600);
    expect((await login.call('GET', '/sys/auth/nowhere/tune')).status).toBe(404);
    expect((await login.call('POST', '/sys/auth/nowhere/tune', {})).status).toBe(404);
  });
});

test.each([
  ['x', 'userpass'],
  ['token', 'cloudB'],
  ['token/x', 'cloudB'],
  ['cloudB/role', 'cloudB'],
  ['login', 'cloudB'],
  ['a/config', 'cloudB'],
  ['tune', 'cloudB'],
  ['a/tune/b', 'cloudB'],
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
