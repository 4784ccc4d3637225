import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Capability, parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { type AccessRequest, createAuthenticator } from './authenticator.ts';
import { createPolicyReader } from './policies/policy-reader.ts';
import { incrementEpoch, insertToken, revokeToken, writePolicy } from './testing.ts';
import {
  type BatchToken,
  batchTokenKeyRing,
  newToken,
  newWrappingToken,
  sealBatchToken,
} from './tokens/token.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
let db: Db;
let now = Date.now();
const queries = { all: 0, changes: 0, tokens: 0, policies: 0, quotas: 0 };

const counted = (inner: Db): Db => ({
  ...inner,
  query: (text, params) => {
    queries.all += 1;
    if (text.includes('login.access_changes')) queries.changes += 1;
    if (text.includes('t.hash = $1')) queries.tokens += 1;
    if (text.includes('from login.policies')) queries.policies += 1;
    if (text.includes('from login.rate_limit_quotas')) queries.quotas += 1;
    return inner.query(text, params);
  },
});
const newAuthenticator = () => createAuthenticator({ db: counted(db), keys, clock: () => now });

const request = (over: Partial<AccessRequest>): AccessRequest => ({
  token: undefined,
  namespace: undefined,
  operation: 'read',
  path: 'kv/data/a',
  remoteAddress: '10.0.0.1',
  requestId: 'r',
  ...over,
});
const verdict = async (over: Partial<AccessRequest>, authenticator = newAuthenticator()) => {
  const decision = await authenticator.authenticate(request(over));
  return decision.allowed ? 'allowed' : `${decision.problem.kind}: ${decision.problem.sentences[0]}`;
};
const denied = 'forbidden: permission denied';

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    "insert into login.namespaces (id, path) values ('n1', 'team'), ('n2', 'team/inner'), ('n3', 'other')",
  );
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1')",
  );
  await writePolicy(db, 'reader', { 'kv/data/*': ['read'], 'team/kv/data/*': ['read'] });
  await writePolicy(db, 'reader', { 'kv/data/*': ['read'], 'inner/kv/data/*': ['read'] }, 'n1');
  await writePolicy(db, 'writer', { 'kv/data/*': ['create'], 'kv/metadata/*': ['list'] });
  await writePolicy(db, 'reviser', { 'kv/data/*': ['update'] });
  await writePolicy(db, 'revoker', { 'auth/token/revoke-accessor': ['update'] });
  await writePolicy(db, 'sudo-revoker', { 'auth/token/revoke-accessor': ['update', 'sudo'] });
});
afterAll(() => db.close());
beforeEach(() => {
  now = Date.now();
  Object.assign(queries, { all: 0, changes: 0, tokens: 0, policies: 0, quotas: 0 });
});

describe('tokens', () => {
  test('accepts a wrapping token only where it is exchanged, without a caller', async () => {
    const token = newWrappingToken().reveal();
    const at = (path: string, namespace?: string) =>
      verdict({ token, path, namespace, operation: 'create-or-update' });
    for (const name of ['lookup', 'rewrap', 'unwrap'])
      expect(await at(`sys/wrapping/${name}`)).toBe('allowed');
    for (const namespace of ['team', 'nowhere'])
      expect(await at('sys/wrapping/unwrap', namespace)).toBe('allowed');
    for (const path of ['sys/wrapping/wrap', 'sys/wrapping/unwrap/x', 'auth/token/lookup-self', 'kv/data/a'])
      expect(await at(path)).toBe(denied);
    const decision = await newAuthenticator().authenticate(request({ token, path: 'sys/wrapping/unwrap' }));
    expect(decision.caller).toMatchObject({ accessor: null, tokenType: null, policies: [], grants: [] });
  });

  test.each([undefined, '', 'x', 'sst_', `sst_${'a'.repeat(43)}`, `sbt_${'a'.repeat(200)}`, "sst_'; drop"])(
    'refuses %j',
    async (token) => expect(await verdict({ token })).toBe(denied),
  );

  test('returns the caller of a valid token', async () => {
    const { token, accessor } = await insertToken(db, { policies: ['reader'] });
    const decision = await newAuthenticator().authenticate(request({ token }));
    expect(decision).toEqual({
      allowed: true,
      caller: {
        requestId: 'r',
        accessor,
        tokenType: 'service',
        displayName: 'test',
        entityId: null,
        policies: ['reader'],
        identityPolicies: [],
        tokenExpiresAt: null,
        namespace: { id: 'root', path: '' },
        tokenNamespace: { id: 'root', path: '' },
        grants: ['read'],
        remoteAddress: '10.0.0.1',
      },
      path: 'kv/data/a',
    });
  });

  test('refuses an expired token until it is renewed, by whichever process', async () => {
    const { token, accessor } = await insertToken(db, { expiresAt: new Date(now + 1000) });
    const authenticator = newAuthenticator();
    expect(await verdict({ token }, authenticator)).toBe('allowed');
    now += 1000;
    expect(await verdict({ token }, authenticator)).toBe(denied);
    await db.query('update login.tokens set expires_at = $2::timestamptz where accessor = $1', [
      accessor,
      new Date(now + 1000).toISOString(),
    ]);
    expect(await verdict({ token }, authenticator)).toBe('allowed');
  });

  test('refuses a token from an address that it is not bound to', async () => {
    const { token } = await insertToken(db, { boundCidrs: ['10.0.0.0/24'] });
    expect(await verdict({ token, remoteAddress: '::ffff:10.0.0.7' })).toBe('allowed');
    expect(await verdict({ token, remoteAddress: '10.0.1.7' })).toBe(denied);
  });

  test('counts limited uses across processes', async () => {
    const { token } = await insertToken(db, { usesLeft: 5 });
    const two = [newAuthenticator(), newAuthenticator()];
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => verdict({ token }, two[index % 2])),
    );
    expect(verdicts.filter((result) => result === 'allowed')).toHaveLength(5);
    expect(await verdict({ token }, two[0])).toBe(denied);
  });

  test('reads a token with limited uses and its policies once, however often it is used', async () => {
    const { token } = await insertToken(db, { policies: ['reader'], usesLeft: 5 });
    const authenticator = newAuthenticator();
    for (let use = 0; use < 5; use += 1) expect(await verdict({ token }, authenticator)).toBe('allowed');
    expect(await verdict({ token }, authenticator)).toBe(denied);
    expect([queries.tokens, queries.policies]).toEqual([1, 1]);
  });

  test('keeps tokens and policies in memory while others are revoked and written', async () => {
    const { token } = await insertToken(db, { policies: ['reader'] });
    const authenticator = newAuthenticator();
    expect(await verdict({ token }, authenticator)).toBe('allowed');
    for (let round = 0; round < 5; round += 1) {
      await revokeToken(db, (await insertToken(db)).accessor);
      await writePolicy(db, 'unrelated', { [`kv/data/${round}`]: ['read'] });
      expect(await verdict({ token }, authenticator)).toBe('allowed');
    }
    expect([queries.tokens, queries.policies]).toEqual([1, 1]);
  });

  test('consumes no use for a request from a wrong address', async () => {
    const { token } = await insertToken(db, { usesLeft: 1, boundCidrs: ['10.0.0.0/24'] });
    expect(await verdict({ token, remoteAddress: '9.9.9.9' })).toBe(denied);
    expect(await verdict({ token })).toBe('allowed');
  });

  test('runs one statement for an unknown token and does not cache it', async () => {
    const authenticator = newAuthenticator();
    const token = newToken().reveal();
    await verdict({ token }, authenticator);
    await verdict({ token }, authenticator);
    expect(queries.all - queries.quotas).toBe(2);
  });
});

describe('batch tokens', () => {
  const batch = (over: Partial<BatchToken> = {}) =>
    sealBatchToken(batchTokenKeyRing(keys), {
      accessor: null,
      namespace_id: 'root',
      policies: ['reader'],
      display_name: 'job',
      entity_id: null,
      metadata: {},
      creation_path: 'auth/token/create',
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + 60_000).toISOString(),
      bound_cidrs: [],
      parent_accessor: null,
      mount_id: null,
      ...over,
    }).reveal();

  test('are valid until they expire', async () => {
    const token = batch();
    const authenticator = newAuthenticator();
    expect(await verdict({ token }, authenticator)).toBe('allowed');
    expect(await verdict({ token, path: 'kv/metadata/a' }, authenticator)).toBe(denied);
    now += 60_000;
    expect(await verdict({ token }, authenticator)).toBe(denied);
  });

  test('are revoked with their parent', async () => {
    const { accessor } = await insertToken(db);
    const token = batch({ parent_accessor: accessor });
    const authenticator = newAuthenticator();
    expect(await verdict({ token }, authenticator)).toBe('allowed');
    await revokeToken(db, accessor);
    expect(await verdict({ token }, authenticator)).toBe(denied);
  });

  test('are bound to their addresses and their namespace', async () => {
    expect(await verdict({ token: batch({ bound_cidrs: ['11.0.0.0/8'] }) })).toBe(denied);
    expect(await verdict({ token: batch({ namespace_id: 'gone' }) })).toBe(denied);
    expect(await verdict({ token: batch({ namespace_id: 'n1' }), namespace: 'team' })).toBe('allowed');
  });
});

describe('policies', () => {
  test('allow a write with either create or update, and require sudo where a path needs it', async () => {
    const { token: writer } = await insertToken(db, { policies: ['writer'] });
    const { token: reviser } = await insertToken(db, { policies: ['reviser'] });
    expect(await verdict({ token: writer, operation: 'create-or-update' })).toBe('allowed');
    expect(await verdict({ token: reviser, operation: 'create-or-update' })).toBe('allowed');
    expect(await verdict({ token: writer })).toBe(denied);
    expect(await verdict({ token: writer, operation: 'patch' })).toBe(denied);
    expect(await verdict({ token: writer, operation: 'list', path: 'kv/metadata' })).toBe('allowed');
    const revocation = { operation: 'create-or-update', path: 'auth/token/revoke-accessor' } as const;
    expect(
      await verdict({ ...revocation, token: (await insertToken(db, { policies: ['revoker'] })).token }),
    ).toBe(denied);
    expect(
      await verdict({ ...revocation, token: (await insertToken(db, { policies: ['sudo-revoker'] })).token }),
    ).toBe('allowed');
  });

  test('apply to a path by either of its names, in a namespace too', async () => {
    await writePolicy(db, 'syncer', {
      'sys/sync/destinations/gh/*': ['read'],
      'sys/sync/destinations/cloudA-sm/+': ['read'],
      'sys/sync/github-apps': ['list'],
      'team/sys/sync/destinations/codehost/*': ['read'],
      'kv/data/sys/sync/destinations/gh/x': ['read'],
    });
    const { token } = await insertToken(db, { policies: ['syncer'] });
    for (const path of ['codehost/x', 'gh/x', 'cloudA-sm/x', 'aws-sm/x'])
      expect(await verdict({ token, path: `sys/sync/destinations/${path}` })).toBe('allowed');
    for (const path of ['sys/sync/codehost-apps', 'sys/sync/github-apps'])
      expect(await verdict({ token, path, operation: 'list' })).toBe('allowed');
    expect(await verdict({ token, namespace: 'team', path: 'sys/sync/destinations/gh/x' })).toBe('allowed');
    expect(await verdict({ token, path: 'kv/data/sys/sync/destinations/gh/x' })).toBe('allowed');
    expect(await verdict({ token, path: 'kv/data/sys/sync/destinations/codehost/x' })).toBe(denied);
    expect(await verdict({ token, path: 'sys/sync/destinations/azure-kv/x' })).toBe(denied);
  });

  test('cannot be bypassed by the other name of a path', async () => {
    await writePolicy(db, 'all-but-one', {
      'sys/sync/*': ['read', 'list'],
      'sys/sync/destinations/codehost/*': ['deny'],
      'sys/sync/destinations/azure-kv': ['deny'],
      'sys/sync/github-apps/*': ['deny'],
    });
    const { token } = await insertToken(db, { policies: ['all-but-one'] });
    for (const path of ['destinations/codehost/x', 'destinations/gh/x', 'codehost-apps/x', 'github-apps/x'])
      expect(await verdict({ token, path: `sys/sync/${path}` })).toBe(denied);
    for (const type of ['azure-kv', 'cloudB-kv'])
      expect(await verdict({ token, path: `sys/sync/destinations/${type}`, operation: 'list' })).toBe(denied);
    expect(await verdict({ token, path: 'sys/sync/destinations/aws-sm/x' })).toBe('allowed');
  });

  test('include the built-in default policy until an operator overwrites it', async () => {
    const { token } = await insertToken(db, { policies: ['default', 'not-written'] });
    expect(await verdict({ token, path: 'auth/token/lookup-self' })).toBe('allowed');
    await writePolicy(db, 'default', { 'kv/data/only': ['read'] });
    expect(await verdict({ token, path: 'auth/token/lookup-self' })).toBe(denied);
    expect(await verdict({ token, path: 'kv/data/only' })).toBe('allowed');
  });

  test('are read and compiled once for all tokens that have the same', async () => {
    const authenticator = newAuthenticator();
    for (const policies of [
      ['reader', 'writer'],
      ['writer', 'reader'],
      ['reader', 'writer', 'reader'],
    ])
      expect(await verdict({ token: (await insertToken(db, { policies })).token }, authenticator)).toBe(
        'allowed',
      );
    expect(queries.policies).toBe(1);
  });

  test.each([
    ['5001 paths', 2_501, (n: number) => `kv/data/${n}`],
    ['502 paths with \\+', 251, (n: number) => `kv/+/${n}`],
  ])('that have %s together are refused with the reason, and not read', async (_what, half, pathOf) => {
    const pathsFrom = (first: number) =>
      Object.fromEntries(
        Array.from({ length: half }, (_, n): [string, Capability[]] => [pathOf(first + n), ['read']]),
      );
    await writePolicy(db, 'large-a', pathsFrom(0));
    await writePolicy(db, 'large-b', pathsFrom(half));
    const authenticator = newAuthenticator();
    const { token } = await insertToken(db, { policies: ['large-a', 'large-b'] });
    for (const _time of [1, 2])
      expect(await verdict({ token, path: pathOf(1) }, authenticator)).toMatch(
        new RegExp(`^forbidden: the policies of this token and its identity have ${half * 2} paths together`),
      );
    expect(queries.policies).toBe(1);
    await writePolicy(db, 'large-b', {});
    expect(await verdict({ token, path: pathOf(1).replace('+', 'x') }, authenticator)).toBe('allowed');
  });

  test('apply to the next request after a change', async () => {
    const { token } = await insertToken(db, { policies: ['changing'] });
    const authenticator = newAuthenticator();
    expect(await verdict({ token }, authenticator)).toBe(denied);
    await writePolicy(db, 'changing', { 'kv/data/a': ['read'] });
    expect(await verdict({ token }, authenticator)).toBe('allowed');
    await writePolicy(db, 'changing', { 'kv/data/a': ['deny'] });
    expect(await verdict({ token }, authenticator)).toBe(denied);
  });

  test('can be evaluated on a path other than the one of the request', async () => {
    const { token } = await insertToken(db, { policies: ['reader'] });
    const { caller } = await newAuthenticator().authenticate(request({ token }));
    const reader = createPolicyReader({ db });
    expect(await reader.capabilitiesOn(caller, 'kv/data/other')).toEqual(['read']);
    expect(await reader.capabilitiesOn(caller, 'kv/metadata/other')).toEqual([]);
    const member = { ...caller, policies: [], identityPolicies: ['reader'] };
    expect(await reader.capabilitiesOn(member, 'kv/data/other')).toEqual(['read']);
    const root = await newAuthenticator().authenticate(request({ token: (await insertToken(db)).token }));
    expect(await reader.capabilitiesOn(root.caller, 'anything')).toContain('sudo');
  });
});

test('policies that are too large together are not evaluated on other paths, either', async () => {
  const paths = (from: number) =>
    Object.fromEntries(Array.from({ length: 1_800 }, (_, n) => [`kv/data/${from + n}`, ['read' as const]]));
  const names = ['large0', 'large1', 'large2'];
  for (const [index, name] of names.entries()) await writePolicy(db, name, paths(index * 10_000));
  const { caller } = await newAuthenticator().authenticate(request({ token: (await insertToken(db)).token }));
  const reader = createPolicyReader({ db });
  const capabilities = (policies: string[]) =>
    reader.capabilitiesOn({ ...caller, policies }, 'kv/data/10001');
  expect(await capabilities(names.slice(0, 2))).toEqual(['read']);
  await expect(capabilities(names)).rejects.toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/have 5400 paths together/),
  });
  expect(await capabilities([...names, 'root'])).toContain('sudo');
});

describe('policies with templates', () => {
  let entityId: string;
  let token: string;
  const path = (name: string) => `kv/data/${name}/a`;
  const change = async (text: string, params: unknown[] = []) => {
    await db.query(text, params);
    await incrementEpoch(db);
  };

  beforeAll(async () => {
    const [entity] = await db.query<{ id: string }>(
      `insert into login.entities (namespace_id, name, metadata) values ('root', 'ann', '{"team":"blue"}') returning id`,
    );
    entityId = entity!.id;
    await db.query(
      `insert into login.entity_aliases (mount_id, name, entity_id, groups)
       select id, 'principal-1', $1::uuid, '{g}' from login.auth_mounts where accessor = 'a1'`,
      [entityId],
    );
    await writePolicy(db, 'own', {
      'kv/data/{{identity.entity.id}}/*': ['read'],
      'kv/data/{{identity.entity.name}}/*': ['read'],
      'kv/data/{{identity.entity.metadata.team}}/*': ['read'],
      'kv/data/{{identity.entity.aliases.a1.name}}/*': ['read'],
      'kv/data/{{identity.groups.names.ops.metadata.site}}/*': ['read'],
      'kv/metadata/+': ['read'],
    });
    const inserted = await insertToken(db, { policies: ['own'] });
    token = inserted.token;
    await db.query('update login.tokens set entity_id = $2::uuid where accessor = $1', [
      inserted.accessor,
      entityId,
    ]);
  });

  test("grant the paths of the token's own entity", async () => {
    for (const name of [entityId, 'ann', 'blue', 'principal-1'])
      expect(await verdict({ token, path: path(name) })).toBe('allowed');
    for (const name of ['bob', 'red', 'north', '{{identity.entity.id}}', '+'])
      expect(await verdict({ token, path: path(name) })).toBe(denied);
  });

  test('follow every change of the entity, its aliases and groups from the next request on', async () => {
    const authenticator = newAuthenticator();
    const on = (name: string) => verdict({ token, path: path(name) }, authenticator);
    expect([await on('ann'), await on('blue'), await on('north')]).toEqual(['allowed', 'allowed', denied]);
    await change(`update login.entities set name = 'bob', metadata = '{"team":"red"}' where id = $1`, [
      entityId,
    ]);
    expect([await on('ann'), await on('bob')]).toEqual([denied, 'allowed']);
    expect([await on('blue'), await on('red')]).toEqual([denied, 'allowed']);
    await change(`with g as (
        insert into login.groups (namespace_id, name, metadata) values ('root', 'ops', '{"site":"north"}') returning id
      ) insert into login.group_aliases (mount_id, name, group_id)
      select m.id, 'g', g.id from g, login.auth_mounts m where m.accessor = 'a1'`);
    expect(await on('north')).toBe('allowed');
    await change("update login.entity_aliases set groups = '{}'");
    expect(await on('north')).toBe(denied);
    await change('update login.entities set name = \'ann\', metadata = \'{"team":"blue"}\'');
  });

  test('grant nothing to a token without an entity, or with one of another namespace', async () => {
    const { token: without } = await insertToken(db, { policies: ['own'] });
    expect(await verdict({ token: without, path: path('ann') })).toBe(denied);
    expect(await verdict({ token: without, path: 'kv/metadata/a' })).toBe('allowed');
    await writePolicy(db, 'own', { 'kv/data/{{identity.entity.name}}/*': ['read'] }, 'n1');
    const inner = await insertToken(db, { policies: ['own'], namespaceId: 'n1' });
    await db.query('update login.tokens set entity_id = $2::uuid where accessor = $1', [
      inner.accessor,
      entityId,
    ]);
    expect(await verdict({ token: inner.token, namespace: 'team', path: path('ann') })).toBe(denied);
  });

  test('apply to batch tokens', async () => {
    const payload = {
      accessor: null,
      namespace_id: 'root',
      policies: ['own'],
      display_name: '',
      entity_id: entityId,
      metadata: {},
      creation_path: 'auth/token/create',
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + 60_000).toISOString(),
      bound_cidrs: [],
      parent_accessor: null,
      mount_id: null,
    };
    const batch = sealBatchToken(batchTokenKeyRing(keys), payload).reveal();
    expect(await verdict({ token: batch, path: path('ann') })).toBe('allowed');
    expect(await verdict({ token: batch, path: path('bob') })).toBe(denied);
  });

  test('apply to a path other than the one of the request', async () => {
    const { caller } = await newAuthenticator().authenticate(request({ token, path: path('ann') }));
    const reader = createPolicyReader({ db });
    expect(await reader.capabilitiesOn(caller, path('ann'))).toEqual(['read']);
    expect(await reader.capabilitiesOn(caller, path('bob'))).toEqual([]);
  });

  test('need one more statement, once; others need none', async () => {
    const statements: string[] = [];
    const observed: Db = {
      ...db,
      query: (text, params) => {
        statements.push(text);
        return db.query(text, params);
      },
    };
    const authenticator = createAuthenticator({ db: observed, keys, clock: () => now });
    const reads = () => statements.filter((text) => text.includes('en.metadata')).length;
    const { token: plain } = await insertToken(db, { policies: ['reader'] });
    for (let call = 0; call < 3; call++) await verdict({ token: plain }, authenticator);
    expect(reads()).toBe(0);
    for (let call = 0; call < 3; call++) await verdict({ token, path: path('ann') }, authenticator);
    expect(reads()).toBe(1);
  });
});

test('the decision contains the conditions that apply to the operation', async () => {
  const restricted = {
    capabilities: ['read', 'update', 'patch', 'delete'] as Capability[],
    required_parameters: ['a'],
  };
  await writePolicy(db, 'restricted', { 'kv/data/*': restricted });
  const { token } = await insertToken(db, { policies: ['restricted'] });
  const conditionsOf = async (operation: AccessRequest['operation']) => {
    const decision = await newAuthenticator().authenticate(request({ token, operation }));
    return decision.allowed ? decision.conditions : 'refused';
  };
  const parameters = { allowed: undefined, denied: undefined, required: ['a'] };
  for (const operation of ['create-or-update', 'patch', 'read'] as const)
    expect(await conditionsOf(operation)).toMatchObject({ parameters });
  expect(await conditionsOf('delete')).toMatchObject({ parameters: undefined });
  const { token: plain } = await insertToken(db, { policies: ['writer'] });
  const decision = await newAuthenticator().authenticate(
    request({ token: plain, operation: 'create-or-update' }),
  );
  expect(decision).toMatchObject({ allowed: true, conditions: undefined });
});

describe('namespaces', () => {
  test('a token is valid in its own namespace and below, with paths relative to its own', async () => {
    const { token: team } = await insertToken(db, { policies: ['reader'], namespaceId: 'n1' });
    expect(await verdict({ token: team, namespace: 'team' })).toBe('allowed');
    expect(await verdict({ token: team, namespace: 'team/inner/' })).toBe('allowed');
    for (const namespace of [undefined, 'root', 'other', 'admin', 'tea', 'team2'])
      expect(await verdict({ token: team, namespace })).toBe(denied);
    const { token: root } = await insertToken(db, { policies: ['reader'] });
    expect(await verdict({ token: root, namespace: 'team' })).toBe('allowed');
    expect(await verdict({ token: root, namespace: 'other' })).toBe(denied);
  });

  test('only callers whose policies allow the path learn that a namespace does not exist', async () => {
    const { token: root } = await insertToken(db);
    const { token: reader } = await insertToken(db, { policies: ['reader'] });
    expect(await verdict({ token: root, namespace: 'nowhere' })).toMatch(/^not_found/);
    expect(await verdict({ token: reader, namespace: 'nowhere' })).toBe(denied);
    expect(await verdict({ namespace: 'nowhere' })).toBe(denied);
    expect(await verdict({ token: root, namespace: 'a//b' })).toMatch(/^invalid/);
  });

  test('creating and deleting a namespace applies to the next request', async () => {
    const { token } = await insertToken(db);
    const authenticator = newAuthenticator();
    expect(await verdict({ token, namespace: 'late' }, authenticator)).toMatch(/^not_found/);
    await db.query("insert into login.namespaces (id, path) values ('n9', 'late')");
    expect(await verdict({ token, namespace: 'late' }, authenticator)).toBe('allowed');
    await db.query("delete from login.namespaces where id = 'n9'");
    await db.query('update login.access_epoch set value = value + 1');
    expect(await verdict({ token, namespace: 'late' }, authenticator)).toMatch(/^not_found/);
  });

  test('sys/sync/config is available only in root and admin', async () => {
    const { token } = await insertToken(db);
    const path = 'sys/sync/config';
    expect(await verdict({ token, path })).toBe('allowed');
    expect(await verdict({ token, path, namespace: 'admin/' })).toBe('allowed');
    expect(await verdict({ token, path, namespace: 'team' })).toMatch(
      /^forbidden: sys\/sync\/config is available only/,
    );
  });
});

describe('paths without a token', () => {
  test.each([
    ['read', 'sys/health', 'allowed'],
    ['read', 'sys/internal/specs/openapi', 'allowed'],
    ['read', 'identity/oidc/plugins/.well-known/keys', 'allowed'],
    ['create-or-update', 'auth/cloudB/login', 'allowed'],
    ['create-or-update', 'auth/unknown/login', denied],
    ['create-or-update', 'auth/cloudB/role/login', denied],
    ['read', 'auth/cloudB/login', denied],
    ['create-or-update', 'sys/health', denied],
    ['read', 'identity/oidc/plugins/.well-known/a/b', denied],
    ['read', 'sys/health/x', denied],
  ] as const)('%s %s is %s', async (operation, path, expected) => {
    expect(await verdict({ operation, path })).toBe(expected);
  });

  test('a path that only looks like a login needs a token and its policies', async () => {
    await writePolicy(db, 'roles', { 'auth/cloudB/role/*': ['create'] });
    const write = { operation: 'create-or-update', path: 'auth/cloudB/role/login' } as const;
    const { token } = await insertToken(db, { policies: ['roles'] });
    const decision = await newAuthenticator().authenticate(request({ ...write, token }));
    expect(decision).toMatchObject({ allowed: true, caller: { grants: ['create'] } });
    expect(await verdict({ ...write, token: (await insertToken(db, { policies: ['reader'] })).token })).toBe(
      denied,
    );
  });

  test('a login has no grants, and is allowed only in the namespace of its mount', async () => {
    const login = { operation: 'create-or-update', path: 'auth/cloudB/login' } as const;
    const decision = await newAuthenticator().authenticate(request({ ...login, token: 'rubbish' }));
    expect(decision).toMatchObject({ allowed: true, caller: { accessor: null, grants: [], policies: [] } });
    expect(await verdict({ ...login, namespace: 'team' })).toBe(denied);
    expect(await verdict({ ...login, namespace: 'nowhere' })).toBe(denied);
  });
});

test('a revocation applies to every later request on every gateway, under load and among other revocations', async () => {
  const gateways = Array.from({ length: 3 }, newAuthenticator);
  const others = await Promise.all(Array.from({ length: 3 }, () => insertToken(db)));
  let running = true;
  const load = gateways.flatMap((gateway) =>
    others.map(async ({ token }) => {
      while (running) expect(await verdict({ token }, gateway)).toBe('allowed');
    }),
  );
  const storm = async () => {
    while (running) await revokeToken(db, (await insertToken(db)).accessor);
  };
  const storms = [storm(), storm()];
  for (let round = 0; round < 8; round++) {
    const { token, accessor } = await insertToken(db);
    const early = gateways.flatMap((gateway) => Array.from({ length: 4 }, () => verdict({ token }, gateway)));
    await Promise.all(early.slice(0, 3));
    const revoked = revokeToken(db, accessor);
    const during = gateways.map((gateway) => verdict({ token }, gateway)); // either result is correct
    await revoked;
    const after = gateways.flatMap((gateway) => Array.from({ length: 4 }, () => verdict({ token }, gateway)));
    expect(new Set(await Promise.all(after))).toEqual(new Set([denied]));
    await Promise.all([...early, ...during]);
  }
  running = false;
  await Promise.all([...load, ...storms]);
});

test('concurrent requests share the reads of the epoch and of their token', async () => {
  const { token } = await insertToken(db);
  const authenticator = newAuthenticator();
  const burst = () => Promise.all(Array.from({ length: 500 }, () => verdict({ token }, authenticator)));
  await burst();
  await burst();
  expect(queries.tokens).toBe(1);
  expect(queries.changes).toBeLessThanOrEqual(4);
});

test('a request is unavailable, not allowed, if the database is down', async () => {
  const broken: Db = { ...db, query: () => Promise.reject(new Error('down')) };
  const authenticator = createAuthenticator({ db: broken, keys });
  expect(await verdict({ token: newToken().reveal() }, authenticator)).toMatch(/^unavailable/);
});
