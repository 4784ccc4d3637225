import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Authenticator, createAuthenticator } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { sweepTokens } from '../../src/tokens/sweep-tokens.ts';
import { createIn, group as directoryGroup, type LoginForTest, oid, useCloudB } from '../login-for-test.ts';

// One tenant, in the root namespace, makes every kind of change; the other one, in the namespace `other`, makes requests.

const { cloudB, login } = useCloudB();
let elsewhere: Caller;
let gateway: Authenticator;
let token: string;
let reads = 0;

const counting = (db: Db): Db => ({
  ...db,
  query: (text, params) => {
    if (!/login\.(access_changes|rate_limit)/.test(text)) reads += 1;
    return db.query(text, params);
  },
});
const isAllowed = async (path: string) =>
  (
    await gateway.authenticate({
      ...{ token, path, namespace: 'other', operation: 'read' },
      ...{ remoteAddress: '127.0.0.1', requestId: 'r' },
    })
  ).allowed;
const policy = (path: string) => ({
  policy: JSON.stringify({ path: { [path]: { capabilities: ['read'] } } }),
});

beforeAll(async () => {
  await login.call('POST', '/sys/namespaces/other', {});
  const id = (await login.call('GET', '/sys/namespaces/other')).body.data.id;
  elsewhere = { ...login.root, namespace: { id, path: 'other' } };
  await login.call('POST', '/sys/policies/acl/reading', policy('kv/data/a'), elsewhere);
  token = (await createIn(login)({ policies: ['reading'] }, elsewhere)).body.auth.client_token;
  gateway = createAuthenticator({ db: counting(login.db), keys: login.keys });
});
beforeEach(async () => {
  expect(await isAllowed('kv/data/a')).toBe(true);
  reads = 0;
});

type Change = (call: LoginForTest['call']) => Promise<unknown>;
const newToken = (body: object = { policies: 'dev' }) => createIn(login)(body);

const changes: Record<string, Change> = {
  'creating and revoking tokens': async (call) => {
    for (const path of ['revoke', 'revoke-orphan'])
      await call('POST', `/auth/token/${path}`, { token: (await newToken()).body.auth.client_token });
  },
  'a token that expires and is deleted': async () => {
    const { accessor } = (await newToken({ policies: 'dev', ttl: 60 })).body.auth;
    await login.db.query('update login.tokens set expires_at = now() where accessor = $1', [accessor]);
    await sweepTokens(login);
  },
  'writing and deleting a policy of the same name': async (call) => {
    await call('POST', '/sys/policies/acl/reading', policy('kv/data/b'));
    await call('DELETE', '/sys/policies/acl/reading');
  },
  'creating and deleting a namespace': async (call) => {
    await call('POST', '/sys/namespaces/short-lived', {});
    await call('DELETE', '/sys/namespaces/short-lived');
  },
  'writing a configuration and a role': async () => {
    await cloudB.configure();
    await cloudB.writeRole('web', { bound_service_principal_ids: [oid], policies: 'dev' });
  },
  'writing groups, aliases and entities, and logins with other groups': async (call) => {
    const { id } = (await call('POST', '/identity/group', { name: 'g' })).body.data;
    const { accessor } = (await call('GET', '/sys/auth/cloudB')).body.data;
    const alias = { name: directoryGroup, mount_accessor: accessor, canonical_id: id };
    await call('POST', '/identity/group-alias', alias);
    const { entity_id } = (await cloudB.logInWith({ groups: [] })).body.auth;
    await cloudB.logInWith({ groups: [directoryGroup] });
    await call('POST', `/identity/group/id/${id}`, { policies: ['dev'] });
    await call('POST', `/identity/entity/id/${entity_id}`, { disabled: true });
    await call('DELETE', `/identity/entity/id/${entity_id}`);
    await call('DELETE', `/identity/group/id/${id}`);
  },
  'disabling a mount, with its tokens and entities': async (call) => {
    await call('POST', '/sys/auth/second', { type: 'cloudB' });
    await call('DELETE', '/sys/auth/second');
    await sweepTokens(login);
  },
};

describe('nothing is read again of a tenant whose neighbour', () => {
  test.each(Object.entries(changes))('is %s', async (_name, change) => {
    const before = await login.epoch();
    await change(login.call);
    expect(await login.epoch()).toBeGreaterThan(before);
    expect(await isAllowed('kv/data/a')).toBe(true);
    expect(reads).toBe(0);
  });
});

describe('a gateway that has seen the mount of a login', () => {
  const logIn = () =>
    gateway.authenticate({
      ...{ token: undefined, path: 'auth/seen/login', namespace: 'other', operation: 'create-or-update' },
      ...{ remoteAddress: '127.0.0.1', requestId: 'r' },
    });
  const change = (method: string, path: string, body?: object) => login.call(method, path, body, elsewhere);

  test('reads it again only after a change, and passes on which changes it knows', async () => {
    await change('POST', '/sys/auth/seen', { type: 'cloudB' });
    expect((await logIn()).allowed).toBe(true);
    reads = 0;
    expect((await logIn()).caller).toMatchObject({
      namespace: { path: 'other' },
      newestChange: await login.newestChange(),
    });
    expect(reads).toBe(0);
    await change('DELETE', '/sys/auth/seen');
    expect((await logIn()).allowed).toBe(false);
    await change('POST', '/sys/auth/seen', { type: 'cloudB' });
    expect((await logIn()).allowed).toBe(true);
    await change('DELETE', '/sys/auth/seen');
  });
});

test('old changes are deleted, and a gateway that has missed them reads everything again', async () => {
  await login.db.query(
    `insert into login.access_changes (epoch, concerns)
     select value + n, '{other}' from login.access_epoch, generate_series(1, 12000) n`,
  );
  await login.db.query('update login.access_epoch set value = value + 12000');
  await sweepTokens(login);
  const rows = await login.db.query('select 1 from login.access_changes');
  expect(rows).toHaveLength(10_000);
  expect(await isAllowed('kv/data/a')).toBe(true);
  expect(reads).toBeGreaterThan(0);
});

test('sets that share a policy read and compile it once, and all follow its changes', async () => {
  const write = (name: string, path: string) =>
    login.call('POST', `/sys/policies/acl/${name}`, policy(path), elsewhere);
  await write('shared', 'kv/data/shared');
  const tokens: string[] = [];
  for (const name of ['own-1', 'own-2', 'own-3']) {
    await write(name, `kv/data/${name}`);
    tokens.push((await createIn(login)({ policies: ['shared', name] }, elsewhere)).body.auth.client_token);
  }
  const rulesRead: unknown[] = [];
  const recording: Db = {
    ...login.db,
    query: (text, params) => {
      if (text.includes('p.rules')) rulesRead.push(params?.[2]);
      return login.db.query(text, params);
    },
  };
  const other = createAuthenticator({ db: recording, keys: login.keys });
  const allowed = async (path: string) => {
    const decisions = [];
    for (const one of tokens)
      decisions.push(
        await other.authenticate({
          ...{ token: one, path, namespace: 'other', operation: 'read' as const },
          ...{ remoteAddress: '127.0.0.1', requestId: 'r' },
        }),
      );
    return decisions.map((decision) => decision.allowed);
  };
  expect(await allowed('kv/data/shared')).toEqual([true, true, true]);
  expect(rulesRead).toEqual([
    ['default', 'own-1', 'shared'],
    ['default', 'own-2'],
    ['default', 'own-3'],
  ]);
  expect(await allowed('kv/data/own-2')).toEqual([false, true, false]);
  await write('shared', 'kv/data/moved');
  expect(await allowed('kv/data/shared')).toEqual([false, false, false]);
  expect(await allowed('kv/data/moved')).toEqual([true, true, true]);
  expect(rulesRead.slice(3)).toEqual([['default', 'shared'], ['default'], ['default']]);
  await login.call('DELETE', '/sys/policies/acl/shared', undefined, elsewhere);
  expect(await allowed('kv/data/moved')).toEqual([false, false, false]);
  expect(await allowed('auth/token/lookup-self')).toEqual([true, true, true]);
});

describe('policies that are too large together', () => {
  const large = (first: number) => ({
    policy: JSON.stringify({
      path: Object.fromEntries(
        Array.from({ length: 1_700 }, (_, n) => [`kv/${first + n}`, { capabilities: ['read'] }]),
      ),
    }),
  });
  const names = ['large-0', 'large-2000', 'large-4000'];

  beforeAll(async () => {
    for (const first of [0, 2_000, 4_000])
      expect((await login.call('POST', `/sys/policies/acl/large-${first}`, large(first))).status).toBe(204);
  });

  test('are refused when a token is created, of either type', async () => {
    for (const type of ['service', 'batch']) {
      const { status, body } = await login.call('POST', '/auth/token/create', { policies: names, type });
      expect([status, body.errors[0]]).toEqual([403, expect.stringMatching(/have 51\d\d paths together/)]);
    }
    await createIn(login)({ policies: names.slice(1) });
  });

  test('are refused at a login, whether they are those of the role or those of the identity', async () => {
    const principal = oid.replaceAll('1', '7');
    const role = { bound_service_principal_ids: [principal], token_ttl: '1h' };
    for (const token_type of ['service', 'batch']) {
      await cloudB.writeRole('large', { ...role, token_type, token_policies: names });
      const refused = await cloudB.logInWith({ oid: principal }, 'large');
      expect([refused.status, refused.body.errors[0]]).toEqual([
        403,
        expect.stringMatching(/the policies of this token and its identity have 51\d\d paths together/),
      ]);
      await cloudB.writeRole('large', { ...role, token_type, token_policies: names.slice(1) });
      const { entity_id } = (await cloudB.logInWith({ oid: principal }, 'large')).body.auth;
      const write = (policies: string[]) =>
        login.call('POST', `/identity/entity/id/${entity_id}`, { policies });
      await write(names.slice(0, 1));
      expect((await cloudB.logInWith({ oid: principal }, 'large')).status).toBe(403);
      await write([]);
      expect((await cloudB.logInWith({ oid: principal }, 'large')).status).toBe(200);
    }
  });
});
