import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

const hcl = 'path "kv/*" { capabilities = ["read", "list"] }';

describe('policies', () => {
  test('are written, returned as written, listed and deleted, and each change moves the epoch', async () => {
    const before = await login.epoch();
    expect((await login.call('PUT', '/sys/policies/acl/Dev', { policy: hcl })).status).toBe(204);
    expect((await login.call('GET', '/sys/policies/acl/dev')).body.data).toEqual({
      name: 'dev',
      policy: hcl,
    });
    const listed = await login.call('LIST', '/sys/policies/acl');
    expect(listed.body.data.keys).toEqual(['default', 'dev', 'root']);
    expect((await login.call('DELETE', '/sys/policies/acl/dev')).status).toBe(204);
    expect((await login.call('GET', '/sys/policies/acl/dev')).status).toBe(404);
    expect(await login.epoch()).toBe(before + 2);
  });

  test('that do not fit on a page continue where a warning says, built-in ones among them', async () => {
    for (const name of ['paged', 'sys'])
      await login.call('PUT', `/sys/policies/acl/${name}`, { policy: hcl });
    const list = async (query: string) => (await login.call('LIST', `/sys/policies/acl${query}`)).body;
    const first = await list('?limit=2');
    expect(first.data.keys).toEqual(['default', 'paged']);
    expect(first.warnings).toEqual([expect.stringMatching(/ after=paged$/)]);
    expect(await list('?limit=2&after=paged')).toMatchObject({
      data: { keys: ['root', 'sys'] },
      warnings: null,
    });
    for (const name of ['paged', 'sys']) await login.call('DELETE', `/sys/policies/acl/${name}`);
  });

  test('are listed by the older path with GET, too, also as `policies`', async () => {
    for (const method of ['GET', 'LIST']) {
      const { status, body } = await login.call(method, '/sys/policy');
      expect([status, body.data.policies]).toEqual([200, body.data.keys]);
      expect(body.data.keys).toEqual(expect.arrayContaining(['default', 'root']));
    }
    expect((await login.call('GET', '/sys/policies/acl')).status).toBe(405);
  });

  test('are written and returned by the older path as `rules`, too', async () => {
    expect((await login.call('PUT', '/sys/policy/old', { rules: hcl })).status).toBe(204);
    const { data } = (await login.call('GET', '/sys/policy/old')).body;
    expect(data).toEqual({ name: 'old', policy: hcl, rules: hcl });
    expect(await login.call('PUT', '/sys/policy/old', {})).toMatchObject({
      status: 400,
      body: { errors: ['policy is required'] },
    });
    expect((await login.call('PUT', '/sys/policies/acl/old', { rules: hcl })).status).toBe(400);
    expect((await login.call('DELETE', '/sys/policy/old')).status).toBe(204);
  });

  test('default can be overwritten but not deleted', async () => {
    const { policy } = (await login.call('GET', '/sys/policies/acl/default')).body.data;
    expect(policy).toContain('lookup-self');
    expect((await login.call('POST', '/sys/policies/acl/default', { policy })).status).toBe(204);
    expect((await login.call('DELETE', '/sys/policies/acl/default')).status).toBe(400);
  });

  test('root can be neither written nor deleted', async () => {
    expect((await login.call('POST', '/sys/policies/acl/root', { policy: hcl })).status).toBe(400);
    expect((await login.call('DELETE', '/sys/policies/acl/root')).status).toBe(400);
  });

  test('are returned as written, with templates, restrictions and comments', async () => {
    const policy = `# own folder
path "kv/data/{{ identity.entity.name }}/*" {
  capabilities      = ["create", "update"]
  denied_parameters = { "options" = [] }
  comment           = "no options"
}
`;
    expect((await login.call('PUT', '/sys/policies/acl/own', { policy })).status).toBe(204);
    expect((await login.call('GET', '/sys/policies/acl/own')).body.data).toEqual({ name: 'own', policy });
    expect((await login.call('PUT', '/sys/policies/acl/own', { policy: '# nothing' })).status).toBe(204);
    expect((await login.call('DELETE', '/sys/policies/acl/own')).status).toBe(204);
  });

  test('need create for a new one and update for an existing one', async () => {
    const creator = testCaller({ policies: ['x'], grants: ['create'] });
    expect((await login.call('POST', '/sys/policies/acl/fresh', { policy: hcl }, creator)).status).toBe(204);
    expect((await login.call('POST', '/sys/policies/acl/fresh', { policy: hcl }, creator)).status).toBe(403);
  });

  test('with a syntax error are refused with its line', async () => {
    const policy = 'path "a" {\n capabilities = ["read" "list"]\n}';
    const { status, body } = await login.call('POST', '/sys/policies/acl/bad', { policy });
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(/policy: line 2/);
  });

  test.each(['constructor', '__proto__'])('may be called %s', async (name) => {
    expect((await login.call('GET', `/sys/policies/acl/${name}`)).status).toBe(404);
    expect((await login.call('PUT', `/sys/policies/acl/${name}`, { policy: hcl })).status).toBe(204);
    expect((await login.call('DELETE', `/sys/policies/acl/${name}`)).status).toBe(204);
    expect((await login.call('GET', `/sys/policies/acl/${name}`)).status).toBe(404);
  });

  test('of a namespace that was just deleted are not found', async () => {
    const deleted = testCaller({ namespace: { id: 'deleted', path: 'deleted' } });
    const { status, body } = await login.call('PUT', '/sys/policies/acl/p', { policy: hcl }, deleted);
    expect([status, body.errors]).toEqual([404, []]);
  });
});

describe('capabilities', () => {
  beforeAll(() => login.call('POST', '/sys/policies/acl/able', { policy: hcl }));

  test("of the caller's token are those of its policies, else deny", async () => {
    const caller = testCaller({ policies: ['able', 'default'] });
    const paths = ['kv/a', 'auth/token/lookup-self', 'sys/x'];
    const { body } = await login.call('POST', '/sys/capabilities-self', { paths }, caller);
    expect(body.data).toEqual({
      'kv/a': ['read', 'list'],
      'auth/token/lookup-self': ['read'],
      'sys/x': ['deny'],
    });
  });

  test("of a path with a template are those of the token's entity", async () => {
    const policy = `path "kv/{{identity.entity.name}}/*" { capabilities = ["read"] allowed_parameters = { "a" = [] } }
      path "kv/{{identity.entity.metadata.missing}}*" { capabilities = ["list"] }`;
    await login.call('POST', '/sys/policies/acl/own', { policy });
    const [entity] = await login.db.query<{ id: string }>(
      "insert into login.entities (namespace_id, name) values ('root', 'ann') returning id",
    );
    const { accessor } = (await login.call('POST', '/auth/token/create', { policies: 'own' })).body.auth;
    await login.db.query('update login.tokens set entity_id = $2::uuid where accessor = $1', [
      accessor,
      entity!.id,
    ]);
    const paths = ['kv/ann/x', 'kv/bob/x'];
    const expected = { 'kv/ann/x': ['read'], 'kv/bob/x': ['deny'] };
    const byAccessor = await login.call('POST', '/sys/capabilities-accessor', { accessor, paths });
    expect(byAccessor.body.data).toEqual(expected);
    const caller = testCaller({ policies: ['own'], entityId: entity!.id });
    expect((await login.call('POST', '/sys/capabilities-self', { paths }, caller)).body.data).toEqual(
      expected,
    );
    const stranger = testCaller({ policies: ['own'] });
    const { body } = await login.call('POST', '/sys/capabilities-self', { paths }, stranger);
    expect(body.data).toEqual({ 'kv/ann/x': ['deny'], 'kv/bob/x': ['deny'] });
  });

  test('of a path with a slash at its end are those of the folder', async () => {
    const policy = 'path "kv/team" { capabilities = ["list"] }';
    await login.call('POST', '/sys/policies/acl/folder', { policy });
    const caller = testCaller({ policies: ['folder'] });
    const { body } = await login.call('POST', '/sys/capabilities-self', { path: '/kv/team/' }, caller);
    expect(body.data.capabilities).toEqual(['list']);
  });

  test('of a path are the same under both of its names', async () => {
    const policy = 'path "sys/sync/destinations/gh/*" { capabilities = ["read"] }';
    await login.call('POST', '/sys/policies/acl/syncer', { policy });
    const paths = ['sys/sync/destinations/codehost/x', '/sys/sync/destinations/gh/x'];
    const caller = testCaller({ policies: ['syncer'] });
    const { body } = await login.call('POST', '/sys/capabilities-self', { paths }, caller);
    expect(paths.map((path) => body.data[path])).toEqual([['read'], ['read']]);
  });

  test('of a single path are also under `capabilities`', async () => {
    const { body } = await login.call('POST', '/sys/capabilities-self', { path: 'x' });
    expect(body.data).toEqual({ x: ['root'], capabilities: ['root'] });
  });

  test('need a path', async () => {
    expect((await login.call('POST', '/sys/capabilities-self', {})).status).toBe(400);
  });

  test('of another token can be read by its accessor', async () => {
    const { accessor } = (await login.call('POST', '/auth/token/create', { policies: 'able' })).body.auth;
    const { body } = await login.call('POST', '/sys/capabilities-accessor', { accessor, paths: 'kv/a' });
    expect(body.data.capabilities).toEqual(['read', 'list']);
  });

  test.each(['service', 'batch'])('of a %s token can be read by the token', async (type) => {
    const created = await login.call('POST', '/auth/token/create', { policies: 'able', type });
    const request = { token: created.body.auth.client_token, paths: 'kv/a' };
    const { body } = await login.call('POST', '/sys/capabilities', request);
    expect(body.data.capabilities).toEqual(['read', 'list']);
  });
});
