import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, loginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await loginForTest({ rootTokenFile: join(mkdtempSync(join(tmpdir(), 'administration-')), 'root') });
});
afterAll(() => login.stop());

const hcl = 'path "kv/*" { capabilities = ["read", "list"] }';

describe('policies', () => {
  test('are written, read as they were, listed and deleted; each change moves the epoch', async () => {
    const before = await login.epoch();
    expect((await login.call('PUT', '/sys/policies/acl/Dev', { policy: hcl })).status).toBe(204);
    expect((await login.call('GET', '/sys/policy/dev')).body.data).toEqual({ name: 'dev', policy: hcl });
    expect((await login.call('LIST', '/sys/policies/acl')).body.data.keys).toEqual([
      'default',
      'dev',
      'root',
    ]);
    expect((await login.call('DELETE', '/sys/policies/acl/dev')).status).toBe(204);
    expect((await login.call('GET', '/sys/policies/acl/dev')).status).toBe(404);
    expect(await login.epoch()).toBe(before + 2);
  });

  test('built in: default can be written, neither can be deleted', async () => {
    expect((await login.call('GET', '/sys/policies/acl/default')).body.data.policy).toContain('lookup-self');
    expect((await login.call('POST', '/sys/policies/acl/root', { policy: hcl })).status).toBe(400);
    expect((await login.call('DELETE', '/sys/policies/acl/root')).status).toBe(400);
    expect((await login.call('DELETE', '/sys/policies/acl/default')).status).toBe(400);
    expect(
      (
        await login.call('POST', '/sys/policies/acl/default', {
          policy: (await login.call('GET', '/sys/policies/acl/default')).body.data.policy,
        })
      ).status,
    ).toBe(204);
  });

  test('the grant must fit: create for a new one, update for an old one', async () => {
    const creator = testCaller({ policies: ['x'], grants: ['create'] });
    expect((await login.call('POST', '/sys/policies/acl/fresh', { policy: hcl }, creator)).status).toBe(204);
    expect((await login.call('POST', '/sys/policies/acl/fresh', { policy: hcl }, creator)).status).toBe(403);
  });

  test('a bad one is refused by line', async () => {
    const answer = await login.call('POST', '/sys/policies/acl/bad', {
      policy: 'path "a" {\n capabilities = ["read" "list"]\n}',
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatch(/policy: line 2/);
  });

  test('capabilities of oneself', async () => {
    await login.call('POST', '/sys/policies/acl/able', { policy: hcl });
    const caller = testCaller({ policies: ['able', 'default'] });
    const answer = await login.call(
      'POST',
      '/sys/capabilities-self',
      { paths: ['kv/a', 'auth/token/lookup-self', 'sys/x'] },
      caller,
    );
    expect(answer.body.data).toEqual({
      'kv/a': ['read', 'list'],
      'auth/token/lookup-self': ['read'],
      'sys/x': ['deny'],
    });
    expect((await login.call('POST', '/sys/capabilities-self', { path: 'x' })).body.data).toEqual({
      x: ['root'],
      capabilities: ['root'],
    });
    expect((await login.call('POST', '/sys/capabilities-self', {})).status).toBe(400);
    const { accessor } = (await login.call('POST', '/auth/token/create', { policies: 'able' })).body.auth;
    const other = await login.call('POST', '/sys/capabilities-accessor', { accessor, paths: 'kv/a' });
    expect(other.body.data.capabilities).toEqual(['read', 'list']);
  });

  test.each(['service', 'batch'])('capabilities of a %s token', async (type) => {
    await login.call('POST', '/sys/policies/acl/able', { policy: hcl });
    const made = await login.call('POST', '/auth/token/create', { policies: 'able', type });
    const body = { token: made.body.auth.client_token, paths: 'kv/a' };
    const answer = await login.call('POST', '/sys/capabilities', body);
    expect(answer.body.data?.capabilities).toEqual(['read', 'list']);
  });
});

describe('namespaces', () => {
  test('are created below one that exists, listed, changed and deleted when empty', async () => {
    expect((await login.call('LIST', '/sys/namespaces')).body.data.keys).toContain('admin/');
    expect((await login.call('POST', '/sys/namespaces/team/a')).status).toBe(400);
    const made = await login.call('POST', '/sys/namespaces/team', { custom_metadata: { x: '1', y: '2' } });
    expect(made.body.data).toMatchObject({ path: 'team/', custom_metadata: { x: '1', y: '2' } });
    const team = testCaller({ namespace: { id: made.body.data.id, path: 'team' } });
    expect((await login.call('LIST', '/sys/namespaces', undefined, team)).status).toBe(404);
    expect((await login.call('PUT', '/sys/namespaces/a', {}, team)).body.data.path).toBe('team/a/');
    expect((await login.call('LIST', '/sys/namespaces', undefined, team)).body.data.keys).toEqual(['a/']);
    expect(
      (await login.call('PATCH', '/sys/namespaces/team', { custom_metadata: { x: null, z: '3' } })).body.data
        .custom_metadata,
    ).toEqual({ y: '2', z: '3' });
    expect((await login.call('DELETE', '/sys/namespaces/team')).status).toBe(409);
    expect((await login.call('DELETE', '/sys/namespaces/team/a')).status).toBe(204);
    await login.call('POST', '/sys/auth/cloudB', { type: 'cloudB' }, team);
    expect((await login.call('DELETE', '/sys/namespaces/team')).status).toBe(409);
    await login.call('DELETE', '/sys/auth/cloudB', undefined, team);
    const token = await login.call(
      'POST',
      '/auth/token/create',
      { policies: 'dev' },
      { ...login.root, namespace: team.namespace },
    );
    expect((await login.call('DELETE', '/sys/namespaces/team')).status).toBe(204);
    expect(
      (await login.call('POST', '/auth/token/lookup', { token: token.body.auth.client_token })).status,
    ).toBe(404);
    expect((await login.call('GET', '/sys/namespaces/team')).status).toBe(404);
  });

  test.each(['sys', 'Root', '-x', 'a b', 'x/auth'])('%s is no name', async (name) => {
    expect((await login.call('POST', `/sys/namespaces/${encodeURIComponent(name)}`)).status).toBe(400);
  });

  test('the administrative one stays', async () => {
    expect((await login.call('GET', '/sys/namespaces/admin')).body.data.id).toBe('admin');
    expect((await login.call('DELETE', '/sys/namespaces/admin')).status).toBe(400);
  });
});

describe('auth mounts', () => {
  test('are enabled, listed, read and disabled', async () => {
    expect((await login.call('POST', '/sys/auth/first', { type: 'cloudB', description: 'd' })).status).toBe(
      204,
    );
    const { data } = (await login.call('GET', '/sys/auth')).body;
    expect(data['first/']).toEqual({
      type: 'cloudB',
      accessor: expect.stringMatching(/^auth_cloudB_[0-9a-f]{8}$/),
      description: 'd',
    });
    expect((await login.call('GET', '/sys/auth/token')).body.data).toEqual({
      ...data['token/'],
      path: 'token/',
    });
    const listed = (await login.call('LIST', '/sys/auth')).body.data;
    expect(listed).toEqual({ keys: Object.keys(data), key_info: data });
    expect(listed.keys).toEqual(expect.arrayContaining(['first/', 'token/']));
    expect((await login.call('GET', '/sys/auth/first')).body.data.accessor).toBe(data['first/'].accessor);
    expect((await login.call('POST', '/sys/auth/first', { type: 'cloudB' })).status).toBe(400);
    expect((await login.call('POST', '/sys/auth/first/below', { type: 'cloudB' })).status).toBe(400);
    expect((await login.call('DELETE', '/sys/auth/first')).status).toBe(204);
    expect((await login.call('DELETE', '/sys/auth/first')).status).toBe(204);
    expect((await login.call('GET', '/sys/auth/first')).status).toBe(404);
  });

  test.each([
    ['x', 'userpass'],
    ['token', 'cloudB'],
    ['token/x', 'cloudB'],
    ['cloudB/role', 'cloudB'],
    ['login', 'cloudB'],
    ['a b', 'cloudB'],
  ])('%s of type %s is refused', async (path, type) => {
    expect((await login.call('POST', `/sys/auth/${path.replace(' ', '%20')}`, { type })).status).toBe(400);
  });
});

describe('configuration', () => {
  const path = '/auth/team/azure/config';
  const secret = 'canary-client-secret';
  beforeAll(() => login.call('POST', '/sys/auth/team/azure', { type: 'cloudB' }));

  test('needs a tenant and a resource, keeps what a write omits, never shows the secret', async () => {
    expect((await login.call('GET', path)).status).toBe(404);
    expect((await login.call('PATCH', path, {})).status).toBe(404);
    expect((await login.call('POST', path, { resource: 'r' })).body.errors).toEqual([
      'tenant_id is required',
    ]);
    expect((await login.call('POST', path, { tenant_id: 't' })).body.errors).toEqual([
      'resource is required',
    ]);
    expect(
      (
        await login.call('POST', path, {
          tenant_id: 't',
          resource: 'https://r/',
          client_id: 'c',
          client_secret: secret,
        })
      ).status,
    ).toBe(204);
    expect(
      (await login.call('POST', path, { retry_delay: '7s', environment: 'AzureChinaCloud' })).status,
    ).toBe(204);
    const read = await login.call('GET', path);
    expect(read.body.data).toMatchObject({
      tenant_id: 't',
      resource: 'https://r/',
      client_id: 'c',
      environment: 'china',
      retry_delay: 7,
      max_retries: 3,
      root_password_ttl: 4_380 * 3_600,
    });
    expect(JSON.stringify(read.body)).not.toContain('secret');
    const [row] = await login.db.query<{ sealed: Uint8Array }>(
      'select sealed_client_secret as sealed from login.cloudb_configs',
    );
    expect(Buffer.from(row!.sealed).toString('latin1')).not.toContain(secret);
    expect(login.logged()).not.toContain(secret);
  });

  test.each([
    [{ identity_token_audience: 'a' }, /exclude each other/],
    [{ identity_token_audience: 'a'.repeat(600), client_secret: '' }, /under 600/],
    [{ environment: 'moon' }, /environment/],
    [{ tenant_id: '../x' }, /tenant_id/],
    [{ max_retries: -1 }, /max_retries/],
    [{ rotation_period: 60, rotation_schedule: '0 0 * * *' }, /exclude each other/],
    [{ rotation_window: 60 }, /rotation_window/],
  ])('%j is refused', async (body, sentence) => {
    const answer = await login.call('POST', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatch(sentence);
  });

  test('warns of what this version stores and does not act on, and says so to who asks for it', async () => {
    const federated = await login.call('POST', path, { client_secret: '', identity_token_audience: 'a' });
    expect(federated.body.warnings).toEqual([
      expect.stringMatching(/^identity_token_audience has no effect/),
    ]);
    const rotating = await login.call('POST', path, { identity_token_audience: '', rotation_period: '1h' });
    expect(rotating.body.warnings).toEqual([expect.stringMatching(/^rotation_period .*have no effect/)]);
    expect((await login.call('POST', path, { rotation_period: 0 })).status).toBe(204);
    const now = await login.call('POST', '/auth/team/azure/rotate-root');
    expect([now.status, now.body.errors]).toEqual([503, ['this version does not rotate client_secret']]);
    expect((await login.call('POST', '/auth/nowhere/rotate-root')).status).toBe(404);
  });

  test('is deleted, also when it is absent', async () => {
    expect((await login.call('DELETE', path)).status).toBe(204);
    expect((await login.call('DELETE', path)).status).toBe(204);
    const nowhere = await login.call('DELETE', '/auth/nowhere/config');
    expect([nowhere.status, nowhere.body.errors]).toEqual([404, ['no auth method is mounted at nowhere/']]);
  });
});

describe('roles', () => {
  const path = '/auth/team/azure/role';

  test('are written under names without case, read, listed and deleted', async () => {
    expect((await login.call('LIST', path)).status).toBe(404);
    expect(
      (await login.call('POST', `${path}/Web`, { policies: 'a,b', bound_group_ids: 'g1, g2' })).status,
    ).toBe(204);
    expect((await login.call('PUT', `${path}/web`, { token_ttl: '1h' })).status).toBe(204);
    expect((await login.call('GET', `${path}/WEB`)).body.data).toMatchObject({
      token_policies: ['a', 'b'],
      policies: ['a', 'b'],
      bound_group_ids: ['g1', 'g2'],
      token_ttl: 3_600,
    });
    for (const name of ['login', 'config'])
      await login.call('POST', `${path}/${name}`, { bound_group_ids: 'g' });
    expect((await login.call('LIST', path)).body.data.keys).toEqual(['config', 'login', 'web']);
    expect((await login.call('GET', `${path}/config`)).body.data.bound_group_ids).toEqual(['g']);
    expect((await login.call('DELETE', `${path}/WEB`)).status).toBe(204);
    expect((await login.call('DELETE', `${path}/web`)).status).toBe(204);
    expect((await login.call('GET', `${path}/web`)).status).toBe(404);
  });

  test('without bounds are refused; such as let nobody in are warned of', async () => {
    expect((await login.call('POST', `${path}/none`, { policies: 'a' })).body.errors).toEqual([
      'must have at least one bound constraint when creating/updating a role',
    ]);
    const answer = await login.call('POST', `${path}/some`, { bound_locations: 'West US' });
    expect(answer.status).toBe(200);
    expect(answer.body.warnings[0]).toMatch(/lets nobody in/);
  });
});

test('describes itself, and says when it is ready', async () => {
  const description = await login.plain('/openapi.json');
  expect(Object.keys(description.paths)).toContain('/v1/auth/{mount}/login');
  expect(JSON.stringify(description.paths['/v1/auth/{mount}/role/{name}'])).toContain('bound_group_ids');
  expect(await login.plain('/readyz')).toEqual({ ready: true, missing: [] });
});

test('policies named like what every object has are policies like others', async () => {
  const hcl = 'path "a" { capabilities = ["read"] }';
  for (const name of ['constructor', '__proto__']) {
    expect((await login.call('GET', `/sys/policies/acl/${name}`)).status).toBe(404);
    expect((await login.call('PUT', `/sys/policies/acl/${name}`, { policy: hcl })).status).toBe(204);
    expect((await login.call('DELETE', `/sys/policies/acl/${name}`)).status).toBe(204);
    expect((await login.call('GET', `/sys/policies/acl/${name}`)).status).toBe(404);
  }
});

test('a policy of a namespace that was just deleted is not found', async () => {
  const gone = testCaller({ namespace: { id: 'gone', path: 'gone' } });
  const policy = 'path "a" { capabilities = ["read"] }';
  const { status, body } = await login.call('PUT', '/sys/policies/acl/p', { policy }, gone);
  expect([status, body.errors]).toEqual([404, []]);
});
