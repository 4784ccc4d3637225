import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { anonymous, audience, createIn, group as directoryGroup, oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB();
let accessor: string;

beforeAll(async () => {
  accessor = (await login.call('GET', '/sys/auth/cloudB')).body.data.accessor;
  await cloudB.writeRole('web', { bound_service_principal_ids: [oid], policies: 'dev', token_ttl: '1h' });
  await cloudB.writeRole('batch', {
    bound_service_principal_ids: [oid],
    policies: 'dev',
    token_type: 'batch',
  });
});

const write = (body: object, caller?: Caller) => login.call('POST', '/identity/group', body, caller);
const read = (name: string) => login.call('GET', `/identity/group/name/${name}`);
/** A group of the directory that has an alias here. */
async function aliased(name: string, body: object, directoryId = directoryGroup) {
  const { id } = (await write({ name, ...body })).body.data;
  const alias = { name: directoryId, mount_accessor: accessor, canonical_id: id };
  const saved = await login.call('POST', '/identity/group-alias', alias);
  expect(saved.status).toBe(200);
  return { id, remove: () => login.call('DELETE', `/identity/group/id/${id}`) };
}
const policyOn = (path: string) => ({
  policy: JSON.stringify({ path: { [path]: { capabilities: ['read'] } } }),
});
const logIn = async (groups: string[], role = 'web') => (await cloudB.logInWith({ groups }, role)).body.auth;
const lookUp = async (token: string) => (await login.call('POST', '/auth/token/lookup', { token })).body.data;
const admit = (role: string, principal: string) =>
  cloudB.writeRole(role, { bound_service_principal_ids: [oid, principal] });
const countTokens = async () => (await login.db.query('select 1 from login.tokens')).length;
const mayRead = (token: string, path: string) => login.isAllowed(token, path);

describe('a group', () => {
  test('is created, read, listed, updated and deleted, by its ID and its name', async () => {
    const created = await write({ name: 'ops', type: 'external', policies: 'B, a', metadata: { team: 'x' } });
    const { id } = created.body.data;
    expect(created.body.data).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'ops' });
    const { data } = (await read('ops')).body;
    expect(data).toMatchObject({
      id,
      name: 'ops',
      type: 'external',
      policies: ['a', 'b'],
      metadata: { team: 'x' },
      alias: {},
      member_entity_ids: [],
      member_group_ids: [],
      parent_group_ids: [],
      modify_index: expect.any(Number),
    });
    expect((await login.call('GET', `/identity/group/id/${id}`)).body.data).toEqual(data);
    await login.call('POST', `/identity/group/id/${id}`, { name: 'operators', policies: [] });
    expect((await read('operators')).body.data).toMatchObject({ policies: [], metadata: { team: 'x' } });
    await login.call('POST', '/identity/group/name/operators', { metadata: {} });
    const byName = (await login.call('LIST', '/identity/group/name')).body.data;
    expect(byName).toMatchObject({ keys: ['operators'], key_info: { operators: { name: 'operators' } } });
    expect((await login.call('LIST', '/identity/group/id')).body.data.keys).toEqual([id]);
    for (const _time of [1, 2])
      expect((await login.call('DELETE', '/identity/group/name/operators')).status).toBe(204);
    expect((await read('operators')).status).toBe(404);
    expect((await login.call('POST', `/identity/group/id/${id}`, {})).status).toBe(404);
  });

  test.each([
    [{ name: 'x', type: 'internal' }, 'type: must be external: the directory knows the members'],
    [{ name: 'x', policies: 'root' }, 'policies: must not contain root'],
    [{ name: 'a/b' }, 'name: must not contain slashes or control characters'],
    [{}, 'name is required'],
    [{ id: 'x' }, 'id: must be a UUID'],
  ])('%j is refused', async (body, sentence) => {
    const { status, body: response } = await write(body);
    expect([status, response.errors]).toEqual([400, [sentence]]);
  });

  test.each(['member_entity_ids', 'member_group_ids'])(
    'has the members that the directory knows: %s',
    async (field) => {
      expect((await write({ name: 'm', [field]: [] })).status).toBe(200);
      const refused = await write({ name: 'm', [field]: ['a1b2c3d4-0000-4000-8000-000000000001'] });
      expect(refused.body.errors[0]).toMatch(`${field}: must be empty`);
      await login.call('DELETE', '/identity/group/name/m');
    },
  );

  test('needs create if it does not exist, and update if it does', async () => {
    const creator = testCaller({ policies: ['x'], grants: ['create'] });
    const updater = testCaller({ policies: ['x'], grants: ['update'] });
    expect((await write({ name: 'guarded' }, updater)).status).toBe(403);
    expect((await write({ name: 'guarded' }, creator)).status).toBe(200);
    expect((await write({ name: 'guarded' }, creator)).status).toBe(403);
    expect((await write({ name: 'guarded' }, updater)).status).toBe(200);
  });

  test('can be given only policies of the own token, unless the caller has sudo', async () => {
    const grants: Caller['grants'] = ['create', 'update'];
    const caller = testCaller({ policies: ['mine'], identityPolicies: ['of-my-group'], grants });
    expect((await write({ name: 'limited', policies: 'mine' }, caller)).status).toBe(200);
    for (const policy of ['other', 'of-my-group']) {
      const { status, body } = await write({ name: 'limited', policies: policy }, caller);
      expect([status, body.errors[0]]).toEqual([400, expect.stringMatching(/must be a subset/)]);
    }
    const { id } = (await write({ name: 'strong', policies: 'other' })).body.data;
    const alias = { name: 'g', mount_accessor: accessor, canonical_id: id };
    expect((await login.call('POST', '/identity/group-alias', alias, caller)).status).toBe(400);
    const sudo = testCaller({ policies: ['mine'], grants: [...grants, 'sudo'] });
    expect((await write({ name: 'limited', policies: 'other' }, sudo)).status).toBe(200);
    expect((await write({ name: 'limited', policies: ['other', 'mine'] }, caller)).status).toBe(200);
    const elsewhere = { ...caller, namespace: { id: 'n', path: 'n' } };
    expect((await write({ name: 'x', policies: 'mine' }, elsewhere)).status).toBe(403);
  });
});

describe('the alias of a group', () => {
  test('is created, read, listed, moved and deleted', async () => {
    const { id, remove } = await aliased('aliased', {}, 'ABC');
    const { alias } = (await read('aliased')).body.data;
    expect(alias).toEqual({
      id: expect.any(String),
      name: 'ABC',
      canonical_id: id,
      mount_accessor: accessor,
      mount_path: 'auth/cloudB/',
      mount_type: 'cloudB',
      namespace_id: 'root',
      metadata: {},
      custom_metadata: {},
      local: false,
      merged_from_canonical_ids: [],
    });
    const path = `/identity/group-alias/id/${alias.id}`;
    expect((await login.call('GET', path)).body.data).toEqual(alias);
    expect((await login.call('LIST', '/identity/group-alias/id')).body.data.keys).toEqual([alias.id]);
    await login.call('POST', path, { name: 'def' });
    expect((await login.call('GET', path)).body.data).toMatchObject({ name: 'def', canonical_id: id });
    for (const _time of [1, 2]) expect((await login.call('DELETE', path)).status).toBe(204);
    expect((await login.call('GET', path)).status).toBe(404);
    await remove();
  });

  test('belongs to one group, which has one alias', async () => {
    const one = await aliased('one', {}, 'first');
    const other = (await write({ name: 'other' })).body.data.id;
    const save = (name: string, canonical_id: string) =>
      login.call('POST', '/identity/group-alias', { name, mount_accessor: accessor, canonical_id });
    expect((await save('second', one.id)).status).toBe(409);
    expect((await save('first', other)).body.data).toMatchObject({ canonical_id: other }); // moved
    expect((await read('one')).body.data.alias).toEqual({});
    await one.remove();
    await login.call('DELETE', `/identity/group/id/${other}`);
  });

  test.each([
    [{ name: undefined }, 'name is required'],
    [{ mount_accessor: 'auth_cloudB_x' }, 'mount_accessor: no auth mount of this namespace has it'],
    [{ canonical_id: oid }, 'canonical_id: no group of this namespace has it'],
  ])('is refused with %j', async (over, sentence) => {
    const { id } = (await write({ name: 'unaliased' })).body.data;
    const alias = { name: 'n', mount_accessor: accessor, canonical_id: id, ...over };
    const { status, body } = await login.call('POST', '/identity/group-alias', alias);
    expect([status, body.errors]).toEqual([400, [sentence]]);
  });
});

describe('the members of a group', () => {
  test.each(['web', 'batch'])(
    'have its policies in the response of a login to %s, and in lookups',
    async (role) => {
      const { remove } = await aliased('readers', { policies: ['reading'] });
      const auth = await logIn([directoryGroup.toUpperCase()], role);
      expect(auth).toMatchObject({
        policies: ['default', 'dev', 'reading'],
        token_policies: ['default', 'dev'],
        identity_policies: ['reading'],
      });
      expect(await lookUp(auth.client_token)).toMatchObject({
        policies: ['default', 'dev'],
        identity_policies: ['reading'],
      });
      await remove();
      expect(await lookUp(auth.client_token)).toMatchObject({ identity_policies: [] });
    },
  );

  test.each(['web', 'batch'])('may do what its policies allow from the next request on: %s', async (role) => {
    await login.call('POST', '/sys/policies/acl/group-reading', policyOn('kv/data/team'));
    const { client_token: token } = await logIn([directoryGroup], role);
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
    const { id, remove } = await aliased('readers', { policies: ['group-reading'] });
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    await login.call('POST', `/identity/group/id/${id}`, { policies: [] });
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
    await login.call('POST', `/identity/group/id/${id}`, { policies: ['group-reading'] });
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    await remove();
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
  });

  test('are those whom the newest login says; that applies to all tokens of the identity at once', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    const { client_token: token } = await logIn([directoryGroup, 'unknown']);
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    const before = await login.epoch();
    await logIn([directoryGroup, 'other']); // neither of the two has an alias
    expect(await login.epoch()).toBe(before);
    await logIn([]);
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
    const renewed = await login.call('POST', '/auth/token/renew', { token });
    expect(renewed.body.auth).toMatchObject({ identity_policies: [], policies: ['default', 'dev'] });
    await logIn([directoryGroup], 'batch');
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    const again = await login.call('POST', '/auth/token/renew', { token });
    expect(again.body.auth).toMatchObject({ identity_policies: ['group-reading'] });
    await remove();
  });

  test('are not those of an older JWT, which does not move the epoch either', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    const principal = oid.replaceAll('1', '6');
    for (const role of ['web', 'batch']) await admit(role, principal);
    const now = Math.floor(Date.now() / 1_000);
    const [older, newer, newest] = [20, 10, 0].map((age) => ({
      oid: principal,
      overrides: { iat: now - age },
    }));
    const { client_token: token } = (await cloudB.logInWith({ groups: [], ...newer })).body.auth;
    const before = await login.epoch();
    for (const role of ['web', 'batch']) {
      const late = await cloudB.logInWith({ groups: [directoryGroup], ...older }, role);
      expect(late.body.auth.identity_policies).toEqual([]);
      expect((await cloudB.logInWith({ groups: [], ...newer }, role)).status).toBe(200);
    }
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
    await cloudB.logInWith({ groups: [], ...newest });
    await cloudB.logInWith({ groups: [directoryGroup], ...newer }); // older than a JWT that changed nothing
    expect(await mayRead(token, 'kv/data/team')).toBe(false);
    expect(await login.epoch()).toBe(before);
    const again = await cloudB.logInWith({ groups: [directoryGroup], ...newest });
    expect(again.body.auth.identity_policies).toEqual(['group-reading']);
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    await remove();
  });

  test('stay those of the last JWT that lists them, if one omits them because there are too many', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    const { client_token: token } = await logIn([directoryGroup]);
    for (const role of ['web', 'batch']) {
      const { auth } = (await cloudB.logInWith({ groupOverage: true }, role)).body;
      expect(auth.identity_policies).toEqual(['group-reading']);
      expect(await mayRead(auth.client_token, 'kv/data/team')).toBe(true);
    }
    expect(await mayRead(token, 'kv/data/team')).toBe(true);
    await remove();
  });

  test.each(['web', 'batch'])(
    'must be known: a login of role %s is refused if no JWT has listed them and the mount has groups',
    async (role) => {
      const unknown = oid.replaceAll('1', role === 'web' ? '8' : '9');
      await admit(role, unknown);
      const omitting = () => cloudB.logInWith({ oid: unknown, groupOverage: true }, role);
      const { remove } = await aliased('readers', { policies: ['group-reading'] });
      const tokens = await countTokens();
      const refusal = {
        status: 403,
        body: {
          errors: ['the login does not name the groups of this identity, and no earlier login did'],
        },
      };
      expect(await omitting()).toMatchObject(refusal); // there is no entity yet
      await remove();
      expect(await omitting()).toMatchObject({ status: 200, body: { auth: { identity_policies: [] } } });
      const again = await aliased('readers', { policies: ['group-reading'] });
      expect(await omitting()).toMatchObject(refusal); // there is one now
      expect(await countTokens()).toBe(tokens + (role === 'web' ? 1 : 0));
      await cloudB.logInWith({ oid: unknown, groups: [] }, role);
      expect((await omitting()).status).toBe(200);
      await again.remove();
    },
  );

  test('are asked for their capabilities with the policies of their groups', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    const { client_token: token, accessor: own } = await logIn([directoryGroup]);
    const paths = ['kv/data/team'];
    const byToken = await login.call('POST', '/sys/capabilities', { token, paths });
    const byAccessor = await login.call('POST', '/sys/capabilities-accessor', { accessor: own, paths });
    const caller = testCaller({ policies: [], identityPolicies: ['group-reading'] });
    const bySelf = await login.call('POST', '/sys/capabilities-self', { paths }, caller);
    for (const { body } of [byToken, byAccessor, bySelf]) expect(body.data.capabilities).toEqual(['read']);
    await remove();
  });

  test('have child tokens that keep the policies only as long as they are members', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    const { body } = await cloudB.logInWith({ groups: [directoryGroup] });
    const { auth } = body;
    const caller = login.callerOf({ body } as never, {
      policies: auth.token_policies,
      identityPolicies: auth.identity_policies,
      entityId: auth.entity_id,
    });
    const child = (await createIn(login)({}, caller)).body.auth;
    expect(child).toMatchObject({
      token_policies: ['default', 'dev'],
      identity_policies: ['group-reading'],
      entity_id: auth.entity_id,
    });
    expect(await mayRead(child.client_token, 'kv/data/team')).toBe(true);
    const named = await login.call('POST', '/auth/token/create', { policies: 'group-reading' }, caller);
    expect(named.status).toBe(400);
    await remove();
    expect(await mayRead(child.client_token, 'kv/data/team')).toBe(false);
  });

  test('are refused if they would have more than 50 policies through their groups', async () => {
    const many = (letter: string) => Array.from({ length: 30 }, (_, index) => `${letter}${index}`);
    const first = await aliased('first', { policies: many('a') });
    const { client_token: token } = await logIn([directoryGroup, 'g2']);
    expect(await login.isAccepted(token)).toBe(true);
    const second = await aliased('second', { policies: many('b') }, 'g2');
    expect(await login.isAccepted(token)).toBe(false);
    const tokens = await countTokens();
    const refused = await cloudB.logInWith({ groups: [directoryGroup, 'g2'] });
    expect([refused.status, refused.body.errors]).toEqual([
      403,
      ['the policies of this identity and its groups exceed 50 names with 4096 characters together'],
    ]);
    expect(await countTokens()).toBe(tokens); // a refused login stores none
    await first.remove();
    await second.remove();
    expect(await login.isAccepted(token)).toBe(true);
  });

  test('can change in concurrent logins, while groups, entities and mounts change', async () => {
    const { id, remove } = await aliased('readers', { policies: ['group-reading'] });
    const { entity_id } = await logIn([]);
    const work = Array.from({ length: 40 }, async (_, n) => {
      const login200 = cloudB.logInWith({ groups: n % 2 ? [directoryGroup] : [] }, n % 3 ? 'web' : 'batch');
      const change = [
        () => login.call('POST', `/identity/group/id/${id}`, { metadata: { n: `${n}` } }),
        () => login.call('POST', `/identity/entity/id/${entity_id}`, { metadata: { n: `${n}` } }),
        () => login.call('POST', '/sys/auth/cloudB/tune', { description: `${n}` }),
      ][n % 3]!;
      return [(await login200).status, (await change()).status];
    });
    const statuses = new Set((await Promise.all(work)).flat());
    expect([...statuses].sort()).toEqual([200, 204]);
    await remove();
  });

  test('are not those of a group of the same ID in the directory of another mount', async () => {
    const { remove } = await aliased('readers', { policies: ['group-reading'] });
    await login.call('POST', '/sys/auth/second', { type: 'cloudB' });
    const config = { tenant_id: cloudB.sandbox.tenantId, resource: audience };
    await login.call('POST', '/auth/second/config', config);
    await login.call('POST', '/auth/second/role/web', { bound_service_principal_ids: oid });
    const request = { role: 'web', jwt: await cloudB.issueJwt({ groups: [directoryGroup] }) };
    const { auth } = (await login.call('POST', '/auth/second/login', request, anonymous)).body;
    expect(auth.identity_policies).toEqual([]);
    await login.call('DELETE', '/sys/auth/second');
    await remove();
  });
});

test('groups belong to a namespace', async () => {
  const { id } = (await login.call('POST', '/sys/namespaces/team')).body.data;
  const inTeam = { ...login.root, namespace: { id, path: 'team' } };
  const here = (await write({ name: 'apart' })).body.data.id;
  const { status } = await login.call('GET', `/identity/group/id/${here}`, undefined, inTeam);
  expect(status).toBe(404);
  const there = (await write({ name: 'apart' }, inTeam)).body.data.id;
  expect(there).not.toBe(here);
  const alias = { name: 'n', mount_accessor: accessor, canonical_id: there };
  expect((await login.call('POST', '/identity/group-alias', alias, inTeam)).body.errors).toEqual([
    'mount_accessor: no auth mount of this namespace has it',
  ]);
  expect((await login.call('DELETE', '/sys/namespaces/team')).status).toBe(200);
});
