import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';

const resource = 'https://management.azure.com/';
let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

/** Sends a request in a namespace. */
const inNamespace = (namespace: string) => (method: string, path: string, body?: unknown) =>
  fetch(`${system.url}/v1/${path}`, {
    method,
    headers: {
      'x-service-token': system.rootToken,
      'x-service-namespace': namespace,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test('a path that is too long is refused by its service, however often the services repeat it', async () => {
  expectStatus(await system.api('POST', 'sys/mounts/long', { type: 'kv' }), 204);
  const tooLong = `long/data/${'x'.repeat(12_000)}`;
  expect(expectStatus(await system.api('GET', tooLong), 400).body.errors).toEqual([
    'path: must have at most 2048 bytes',
  ]);
});

describe('namespaces', () => {
  test('are deleted only when empty, and the refusal says what is left', async () => {
    expectStatus(await system.api('POST', 'sys/namespaces/team'), 200);
    const team = inNamespace('team');
    await team('POST', 'sys/mounts/kv', { type: 'kv' });
    await team('POST', 'sys/sync/destinations/cloudA-sm/d', { region: 'eu-west-1' });
    expect(expectStatus(await system.api('DELETE', 'sys/namespaces/team'), 409).body.errors).toEqual([
      'the namespace still holds mounts; disable them first',
    ]);
    await team('DELETE', 'sys/mounts/kv');
    expect(expectStatus(await system.api('DELETE', 'sys/namespaces/team'), 409).body.errors).toEqual([
      'the namespace still holds sync destinations; delete them first',
    ]);
    await team('DELETE', 'sys/sync/destinations/cloudA-sm/d');
    expectStatus(await system.api('DELETE', 'sys/namespaces/team'), 200);
    expectStatus(await system.api('DELETE', 'sys/namespaces/team'), 200);
  });

  test('are checked in the same way below the namespace of the request', async () => {
    expectStatus(await system.api('POST', 'sys/namespaces/above'), 200);
    expect((await inNamespace('above')('POST', 'sys/namespaces/below')).status).toBe(200);
    await inNamespace('above/below')('POST', 'sys/mounts/kv', { type: 'kv' });
    expect((await inNamespace('above')('DELETE', 'sys/namespaces/below')).status).toBe(409);
    await inNamespace('above/below')('DELETE', 'sys/mounts/kv');
    expect((await inNamespace('above')('DELETE', 'sys/namespaces/below')).status).toBe(200);
  });
});

describe('tokens', () => {
  test('a batch token of a login becomes invalid when its auth mount is disabled', async () => {
    const { tenant_id, identities } = await system.sandbox.directory();
    const { name: identity, oid } = identities[0]!;
    const jwt = await system.sandbox.issueToken({ identity, audience: resource });
    await system.api('POST', 'sys/auth/short', { type: 'cloudB' });
    await system.api('POST', 'auth/short/config', { tenant_id, resource });
    const role = { bound_service_principal_ids: oid, token_type: 'batch' };
    await system.api('POST', 'auth/short/role/r', role);
    const login = await system.as(undefined)('POST', 'auth/short/login', { role: 'r', jwt });
    const api = system.as(expectStatus(login, 200).body.auth.client_token);
    expectStatus(await api('GET', 'auth/token/lookup-self'), 200);
    expectStatus(await system.api('DELETE', 'sys/auth/short'), 204);
    expectStatus(await api('GET', 'auth/token/lookup-self'), 403);
  });

  test('sys/capabilities-accessor returns the capabilities of the token with that accessor', async () => {
    const created = await system.api('POST', 'auth/token/create', { policies: 'default' });
    const { accessor } = expectStatus(created, 200).body.auth;
    const capabilities = await system.api('POST', 'sys/capabilities-accessor', {
      accessor,
      paths: 'auth/token/lookup-self',
    });
    expect(expectStatus(capabilities, 200).body.data.capabilities).toEqual(['read']);
  });
});

describe('refusals', () => {
  test('name the invalid field and its rule', async () => {
    const at = await SyncFixture.create(system);
    const refused = async (path: string, body: object) =>
      expectStatus(await system.api('POST', path, body), 400).body.errors.join('; ');
    expect(await refused('auth/token/create', { meta: { a: 1 } })).toBe('meta.a: must be a string');
    expect(await refused('auth/token/lookup', { token: '' })).toBe('token: must not be empty');
    expect(await refused('sys/policies/acl/p', { policy: {} })).toBe('policy: must be a string');
    expect(await refused(at.path, { secret_name_template: 'a\0{{ .SecretPath }}' })).toMatch(
      /^secret_name_template: /,
    );
    expect(await refused(at.path, { custom_tags: { a: 1 } })).toBe('custom_tags: must be a map of strings');
    await system.api('POST', 'sys/auth/cloudB', { type: 'cloudB' });
    expect(await refused('auth/cloudB/login', { role: '\0', jwt: 'a.b.c' })).toMatch(/^role: /);
  });

  test('400 for a number that would lose digits, outside of the value of a secret', async () => {
    const at = await SyncFixture.create(system);
    const answer = await fetch(`${system.url}/v1/${at.mount}/data/n`, {
      method: 'POST',
      headers: { 'x-service-token': system.rootToken, 'content-type': 'application/json' },
      body: '{"data":{"id":123456789012345678},"options":{"cas":123456789012345678}}',
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { errors: ['options.cas: the number would lose digits; send it as a string'] },
    ]);
  });

  test('405 lists the supported verbs in Allow', async () => {
    await system.api('POST', 'sys/mounts/kv405', { type: 'kv' });
    const answer = await inNamespace('root')('PATCH', 'sys/mounts/kv405', { description: 'x' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, PUT, DELETE']);
  });

  test('a warning names the path of an unknown field', async () => {
    const at = await SyncFixture.create(system);
    const { body } = await system.api('POST', `${at.mount}/data/a`, { data: {}, options: { foo: 1 } });
    expect(body.warnings).toEqual(['unknown field options.foo was ignored']);
  });
});

test('sys/health responds to HEAD', async () => {
  const answer = await fetch(`${system.url}/v1/sys/health`, { method: 'HEAD' });
  expect([answer.status, await answer.text()]).toEqual([200, '']);
});

test('the response to a read of a destination can be written back unchanged', async () => {
  const at = await SyncFixture.create(system, { custom_tags: { team: 'a' } });
  const before = expectStatus(await system.api('GET', at.path), 200).body.data;
  const { granularity_level, ...options } = before.options;
  const written = { ...before.connection_details, ...options, granularity: granularity_level };
  const after = expectStatus(await system.api('POST', at.path, written), 200);
  expect([after.body.data, after.body.warnings]).toEqual([before, null]);
});

test('the OpenAPI document contains every operation and the fields of each destination type', async () => {
  const answer = await fetch(`${system.url}/v1/sys/internal/specs/openapi`);
  const { openapi, paths } = (await answer.json()) as { openapi: string; paths: Record<string, never> };
  expect(openapi).toMatch(/^3\.1\./);
  const destination = JSON.stringify(paths['/v1/sys/sync/destinations/cloudA-sm/{name}']);
  for (const field of ['role_arn', 'custom_tags', 'tags_to_remove', 'recovery_window_days'])
    expect(destination).toContain(`"${field}"`);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining([
      '/v1/auth/{mount}/login',
      '/v1/sys/mounts/{path}/tune',
      '/v1/sys/sync/associations/{mount}/{secret_name}',
      '/v1/sys/sync/destinations/{type}/{name}/associations/set',
      '/v1/{mount}/data/{path}',
    ]),
  );
});
