import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createIn, type LoginForTest, startLoginForTest } from '../login-for-test.ts';

let login: LoginForTest;
let create: ReturnType<typeof createIn>;
/** A token with the policy `dev` and without `sudo`. */
let plain: ReturnType<LoginForTest['callerOf']>;

beforeAll(async () => {
  login = await startLoginForTest();
  create = createIn(login);
  plain = login.callerOf(await create({ policies: 'dev' }));
});
afterAll(() => login.stop());

let roles = 0;
/** Writes a role with the root token, and returns its name. */
async function writeRole(body: object, caller = login.root): Promise<string> {
  const name = `role${++roles}`;
  const { status, body: refusal } = await login.call('POST', `/auth/token/roles/${name}`, body, caller);
  expect([status, refusal]).toEqual([204, undefined]);
  return name;
}
const createWith = (name: string, body: object = {}, caller = plain) =>
  login.call('POST', `/auth/token/create/${name}`, body, caller);
const lookUp = async (accessor: string) =>
  (await login.call('POST', '/auth/token/lookup-accessor', { accessor })).body.data;

describe('a token role', () => {
  test('is written, read, listed and deleted, and keeps what a write omits', async () => {
    const name = await writeRole({ allowed_policies: 'A,b', period: '1h', path_suffix: 'ci' });
    await login.call('POST', `/auth/token/roles/${name}`, { orphan: true, allowed_entity_aliases: [] });
    const { body } = await login.call('GET', `/auth/token/roles/${name}`);
    expect(body.data).toEqual({
      name,
      allowed_policies: ['a', 'b'],
      disallowed_policies: [],
      allowed_policies_glob: [],
      disallowed_policies_glob: [],
      allowed_entity_aliases: [],
      orphan: true,
      renewable: true,
      path_suffix: 'ci',
      explicit_max_ttl: 0,
      period: 3_600,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 3_600,
      token_type: 'default-service',
    });
    expect((await login.call('LIST', '/auth/token/roles')).body.data.keys).toContain(name);
    expect((await login.call('DELETE', `/auth/token/roles/${name}`)).status).toBe(204);
    expect((await login.call('GET', `/auth/token/roles/${name}`)).status).toBe(404);
    expect((await createWith(name)).body.errors).toEqual(['the token role does not exist']);
  });

  test('is listed in pages', async () => {
    const names = [await writeRole({}), await writeRole({})].sort();
    const page = (query: string) => login.call('LIST', `/auth/token/roles?${query}`);
    const { body } = await page(`limit=1&after=${names[0]}`);
    expect(body.data.keys).toEqual([names[1]]);
  });

  test.each<[string, object, RegExp]>([
    ['aliases of entities', { allowed_entity_aliases: ['a'] }, /allowed_entity_aliases: is not supported/],
    ['an unknown type', { token_type: 'other' }, /token_type: /],
    ['periodic batch tokens', { token_type: 'batch', token_period: 60 }, /token_period: /],
    ['batch tokens with limited uses', { token_type: 'batch', token_num_uses: 1 }, /token_num_uses: /],
    ['a suffix that is no path', { path_suffix: '../x' }, /path_suffix: /],
  ])('cannot have %s', async (_what, body, sentence) => {
    const refused = await login.call('POST', '/auth/token/roles/refused', body);
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
  });

  test.each<[string, object, number, RegExp]>([
    ['policies beyond the own token', { allowed_policies: 'ops' }, 400, /unless it has sudo: ops/],
    ['patterns of policies', { allowed_policies_glob: 'd*' }, 403, /allowed_policies_glob: needs sudo/],
    ['tokens without a parent', { orphan: true }, 403, /orphan: needs sudo/],
    ['periodic tokens', { token_period: 60 }, 403, /token_period: needs sudo/],
    ['the root policy', { allowed_policies: 'root' }, 403, /only a root token/],
  ])('cannot grant %s without sudo', async (_what, body, status, sentence) => {
    const refused = await login.call('POST', '/auth/token/roles/beyond', body, plain);
    expect([refused.status, refused.body.errors]).toEqual([status, [expect.stringMatching(sentence)]]);
  });

  test('adds default only if its author may give it', async () => {
    const author = login.callerOf(await create({ policies: 'dev', no_default_policy: true }));
    const role = { allowed_policies: 'dev' };
    const refused = await login.call('POST', '/auth/token/roles/beyond', role, author);
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringMatching(/sudo: default$/)]]);
    const without = await writeRole({ ...role, token_no_default_policy: true }, author);
    expect((await createWith(without, {}, author)).body.auth.policies).toEqual(['dev']);
    expect((await createWith(await writeRole({}, author), {}, author)).body.auth.policies).toEqual(['dev']);
  });

  test('of another author cannot be widened by any change without sudo', async () => {
    const name = await writeRole({ allowed_policies_glob: '*', disallowed_policies: 'admin' });
    const path = `/auth/token/roles/${name}`;
    expect((await login.call('POST', path, { disallowed_policies: [] }, plain)).status).toBe(403);
    await writeRole({ allowed_policies: 'dev' }, plain);
  });

  test('needs update if it exists, and create if not', async () => {
    const name = await writeRole({});
    const updater = { ...plain, grants: ['update' as const] };
    const creator = { ...plain, grants: ['create' as const] };
    expect((await login.call('POST', `/auth/token/roles/${name}`, {}, creator)).status).toBe(403);
    expect((await login.call('POST', '/auth/token/roles/absent', {}, updater)).status).toBe(403);
  });
});

describe('the policies of a token that is created with a role', () => {
  const policiesOf = async (role: object, request: object = {}, caller = plain) => {
    const { status, body } = await createWith(await writeRole(role), request, caller);
    return status === 200 ? body.auth.policies : [status, ...body.errors].join(' ');
  };

  test.each<[string, object, object, string[] | RegExp]>([
    ["are the caller's if the role lists none", {}, {}, ['default', 'dev']],
    ["are not beyond the caller's if the role lists none", {}, { policies: 'ops' }, /^400 .*subset/],
    ['are all that the role allows', { allowed_policies: ['ops', 'a'] }, {}, ['a', 'default', 'ops']],
    ['may be some of them', { allowed_policies: 'ops,a' }, { policies: 'ops' }, ['default', 'ops']],
    ['may match a pattern', { allowed_policies_glob: 'ops-*' }, { policies: 'ops-1' }, ['default', 'ops-1']],
    ['are default alone if only patterns are allowed', { allowed_policies_glob: 'ops-*' }, {}, ['default']],
    ['are not others', { allowed_policies: 'ops' }, { policies: 'ops,a' }, /^400 .*does not allow a$/],
    ['are not those of the caller', { allowed_policies: 'ops' }, { policies: 'dev' }, /does not allow dev$/],
    ['are not root', { allowed_policies: 'root' }, {}, /^403 only a root token/],
    ['are not root by a pattern', { allowed_policies_glob: '*' }, { policies: 'ROOT' }, /^403 only a root/],
    [
      'lack default if the request says so',
      { allowed_policies: 'ops' },
      { no_default_policy: true },
      ['ops'],
    ],
    [
      'lack default if the role says so',
      { allowed_policies: 'ops', token_no_default_policy: true },
      {},
      ['ops'],
    ],
    [
      'lack default if it is disallowed',
      { allowed_policies: 'ops', disallowed_policies: 'default' },
      {},
      ['ops'],
    ],
    ['are not disallowed ones', { disallowed_policies_glob: 'd*v' }, {}, /^400 .*disallows dev$/],
    [
      'are not disallowed ones that are allowed',
      { allowed_policies_glob: '*', disallowed_policies: 'ops' },
      { policies: 'ops' },
      /disallows ops$/,
    ],
    ["are the caller's if only some are disallowed", { disallowed_policies: 'a' }, {}, ['default', 'dev']],
    [
      'may be any others if only some are disallowed',
      { disallowed_policies: 'a' },
      { policies: 'ops' },
      ['default', 'ops'],
    ],
    [
      'are not root if only some are disallowed',
      { disallowed_policies: 'a' },
      { policies: 'root' },
      /^403 only a root/,
    ],
  ])('%s', async (_rule, role, request, expected) => {
    const found = await policiesOf(role, request);
    if (expected instanceof RegExp) expect(found).toMatch(expected);
    else expect(found).toEqual(expected);
  });

  test('are those of a child if an author without sudo only disallows some', async () => {
    const path = `/auth/token/roles/${await writeRole({ disallowed_policies: 'a' })}`;
    const { status, body } = await login.call('POST', path, { token_num_uses: 3 }, plain);
    expect([status, body.warnings]).toEqual([200, [expect.stringMatching(/write the role with sudo$/)]]);
    const name = path.split('/').at(-1)!;
    expect((await createWith(name, { policies: 'ops' })).body.errors).toEqual([
      expect.stringMatching(/subset of the parent token's: ops$/),
    ]);
  });

  test('may be root for a root token', async () => {
    expect(await policiesOf({ allowed_policies: 'root' }, {}, login.root)).toEqual(['root']);
  });
});

describe('a token that is created with a role', () => {
  test('has its attributes', async () => {
    const name = await writeRole({
      orphan: true,
      token_period: '1h',
      token_explicit_max_ttl: '2h',
      token_num_uses: 5,
      token_bound_cidrs: '10.0.0.0/8',
      path_suffix: 'ci-main',
      renewable: false,
    });
    const { auth } = (await createWith(name)).body;
    expect(auth).toMatchObject({ orphan: true, renewable: false, num_uses: 5, lease_duration: 3_600 });
    expect(await lookUp(auth.accessor)).toMatchObject({
      role: name,
      path: `auth/token/create/${name}/ci-main`,
      period: 3_600,
      explicit_max_ttl: 7_200,
      bound_cidrs: ['10.0.0.0/8'],
      entity_id: '',
    });
  });

  test('may have less than the role permits, but not more', async () => {
    const name = await writeRole({
      token_explicit_max_ttl: 600,
      token_num_uses: 5,
      token_bound_cidrs: '10.0.0.0/8',
    });
    const less = { explicit_max_ttl: 60, num_uses: 2, bound_cidrs: '10.1.0.0/16' };
    expect((await createWith(name, less)).body.auth).toMatchObject({ lease_duration: 60, num_uses: 2 });
    const more = await createWith(name, { explicit_max_ttl: '5h', ttl: '5h', num_uses: 9 });
    expect(more.body.auth).toMatchObject({ lease_duration: 600, num_uses: 5 });
    const wider = await createWith(name, { bound_cidrs: '0.0.0.0/0' });
    expect([wider.status, wider.body.errors]).toEqual([400, ["bound_cidrs must lie within the role's"]]);
  });

  test('cannot be used from more addresses than its parent', async () => {
    const bound = login.callerOf(await create({ policies: 'dev', bound_cidrs: '10.1.0.0/16' }));
    const name = await writeRole({ token_bound_cidrs: '0.0.0.0/0' });
    expect((await createWith(name, {}, bound)).status).toBe(400);
    const { auth } = (await createWith(await writeRole({}), {}, bound)).body;
    expect((await lookUp(auth.accessor)).bound_cidrs).toEqual(['10.1.0.0/16']);
  });

  test.each<[string, object, object, string]>([
    ['default-service', {}, {}, 'service'],
    ['default-service', {}, { type: 'batch' }, 'batch'],
    ['default-batch', {}, {}, 'batch'],
    ['default-batch', {}, { type: 'service' }, 'service'],
    ['batch', { orphan: true }, {}, 'batch'],
    ['batch', {}, { type: 'service' }, 'batch'],
    ['service', {}, { type: 'batch' }, 'service'],
  ])('of type %s: %j %j', async (token_type, role, request, expected) => {
    const { body } = await createWith(await writeRole({ ...role, token_type }), request);
    expect(body.auth.token_type).toBe(expected);
  });

  test('still needs sudo for what the request adds', async () => {
    const name = await writeRole({ allowed_policies_glob: '*' });
    for (const request of [{ no_parent: true }, { period: 60 }, { id: 'a-token-of-20-characters' }])
      expect((await createWith(name, request)).status).toBe(403);
    const orphan = await writeRole({ orphan: true });
    expect((await createWith(orphan, { no_parent: true })).body.auth.orphan).toBe(true);
  });

  test('is renewed by what the role says by then, and not after its deletion', async () => {
    const name = await writeRole({ token_period: '1h' });
    const { accessor } = (await createWith(name)).body.auth;
    const renew = () => login.call('POST', '/auth/token/renew-accessor', { accessor, increment: '5h' });
    expect((await renew()).body.auth.lease_duration).toBe(3_600);
    await login.call('POST', `/auth/token/roles/${name}`, { token_period: 600 });
    expect((await renew()).body.auth.lease_duration).toBe(600);
    await login.call('DELETE', `/auth/token/roles/${name}`);
    expect((await renew()).body.errors).toEqual([`the token role ${name} no longer exists`]);
    expect((await lookUp(accessor)).role).toBe(name);
  });

  test('belongs to the namespace of the role', async () => {
    await login.call('POST', '/sys/namespaces/team');
    const { id } = (await login.call('GET', '/sys/namespaces/team')).body.data;
    const inTeam = { ...plain, namespace: { id, path: 'team' } };
    const root = { ...login.root, namespace: inTeam.namespace };
    await login.call('POST', '/auth/token/roles/there', { allowed_policies: 'theirs' }, root);
    expect((await createWith('there', {}, plain)).status).toBe(400);
    const { auth } = (await createWith('there', {}, inTeam)).body;
    expect(auth.policies).toEqual(['default', 'theirs']);
    expect((await lookUp(auth.accessor)).namespace_path).toBe('team/');
    await login.call('POST', '/auth/token/roles/open', {}, root);
    expect((await createWith('open', {}, inTeam)).status).toBe(403);
  });
});
