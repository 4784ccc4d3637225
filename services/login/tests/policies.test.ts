import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { createIn, type LoginForTest, startLoginForTest } from './login-for-test.ts';

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

  test.each([
    ['/sys/policies/acl/encoded', 'policy'],
    ['/sys/policy/encoded', 'policy'],
    ['/sys/policy/encoded', 'rules'],
  ])('may be given in base64: POST %s with %s', async (path, field) => {
    const text = 'path "kv/ä" { capabilities = ["deny"] }';
    const encoded = Buffer.from(text).toString('base64');
    expect(
      (await login.call('POST', path, { [field]: `${encoded.slice(0, 20)}\n${encoded.slice(20)}\n` })).status,
    ).toBe(204);
    expect((await login.call('GET', path)).body.data.policy).toBe(text);
    const capabilities = await login.call(
      'POST',
      '/sys/capabilities-self',
      { paths: ['kv/ä'] },
      testCaller({ policies: ['encoded'] }),
    );
    expect(capabilities.body.data.capabilities).toEqual(['deny']);
    const [rules] = await login.db.query<{ rules: unknown }>(
      "select rules from login.policies where name = 'encoded'",
    );
    expect(rules).toEqual({ rules: { paths: [{ path: 'kv/ä', capabilities: ['deny'] }] } });
    const binary = await login.call('POST', path, {
      [field]: Buffer.from([0xff, 0xfe, 0xff]).toString('base64'),
    });
    expect([binary.status, binary.body.errors]).toEqual([400, [expect.stringMatching(/base64/)]]);
  });

  test.each(['team/read only', 'Größe', 'a,b', '-x', '*', 'a%2fb'])('may be called %s', async (name) => {
    const policy = 'path "kv/named" { capabilities = ["read"] }';
    const path = `/sys/policies/acl/${name.split('/').map(encodeURIComponent).join('/')}`;
    expect((await login.call('POST', path, { policy })).status).toBe(204);
    expect((await login.call('GET', path)).body.data).toEqual({ name: name.toLowerCase(), policy });
    expect((await login.call('LIST', '/sys/policies/acl')).body.data.keys).toContain(name.toLowerCase());
    const { auth } = (await createIn(login)({ policies: [name, 'default'] })).body;
    expect(await login.isAllowed(auth.client_token, 'kv/named')).toBe(true);
    expect((await login.call('DELETE', path)).status).toBe(204);
    expect((await login.call('GET', path)).status).toBe(404);
  });

  test('whose names are joined to those of others are others', async () => {
    for (const name of ['one', 'two', 'one,two'])
      await login.call('POST', `/sys/policies/acl/${encodeURIComponent(name)}`, {
        policy: `path "kv/joined" { capabilities = ["${name === 'one,two' ? 'deny' : 'read'}"] }`,
      });
    const allowed = async (policies: string[]) =>
      login.isAllowed(
        (await createIn(login)({ policies, no_default_policy: true })).body.auth.client_token,
        'kv/joined',
      );
    expect([await allowed(['one', 'two']), await allowed(['one,two'])]).toEqual([true, false]);
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

  test('include subscribe, whatever its event types are', async () => {
    const policy = `path "kv/a" { capabilities = ["subscribe", "read"] subscribe_event_types = ["kv*"] }
      path "kv/b" { capabilities = ["subscribe"] } path "kv/c" { capabilities = ["deny", "subscribe"] }`;
    await login.call('POST', '/sys/policies/acl/listener', { policy });
    const caller = testCaller({ policies: ['listener'] });
    const paths = ['kv/a', 'kv/b', 'kv/c'];
    const { body } = await login.call('POST', '/sys/capabilities-self', { paths }, caller);
    expect(body.data).toEqual({ 'kv/a': ['read', 'subscribe'], 'kv/b': ['subscribe'], 'kv/c': ['deny'] });
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

  test('are those of at most 256 paths of 16,384 characters', async () => {
    const refusal = async (paths: string[] | string) =>
      (await login.call('POST', '/sys/capabilities-self', { paths })).body.errors;
    expect(await refusal(Array(257).fill('a'))).toEqual(['paths: must have at most 256 paths']);
    expect(await refusal(['a'.repeat(16_385)])).toEqual(['paths: each must have at most 16384 characters']);
    expect(await refusal(Array(257).fill(1) as never)).toEqual([
      'paths: must be a list of strings or one comma-separated string',
    ]);
    expect(await refusal('a,'.repeat(1_000))).toEqual(['paths: must have at most 1,000 parts']);
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
