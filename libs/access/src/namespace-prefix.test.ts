import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { type AccessRequest, createAuthenticator } from './authenticator.ts';
import { insertToken, writePolicy } from './testing.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
let db: Db;
let statements: string[] = [];
let root: string;
let reader: string;
let ofTeam: string;

const counted = (inner: Db): Db => ({
  ...inner,
  query: (text, params) => {
    statements.push(text);
    return inner.query(text, params);
  },
});
const newAuthenticator = () => createAuthenticator({ db: counted(db), keys });

const request = (over: Partial<AccessRequest>): AccessRequest => ({
  token: root,
  namespace: undefined,
  operation: 'read',
  path: 'kv/data/a',
  remoteAddress: '10.0.0.1',
  requestId: 'r',
  ...over,
});
/** Where a request takes place, or why it is refused. */
async function placeOf(over: Partial<AccessRequest>, authenticator = newAuthenticator()) {
  const decision = await authenticator.authenticate(request(over));
  if (!decision.allowed) return decision.problem.sentences[0];
  return `${decision.caller.namespace.path}: ${decision.path}`;
}

beforeAll(async () => {
  db = await openTestDb();
  await db.query("insert into login.namespaces (id, path) values ('n1', 'team'), ('n2', 'team/inner')");
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('n1', 'cloudB', 'cloudB', 'a1')",
  );
  await writePolicy(db, 'reader', { 'team/kv/data/*': ['read'], 'other/kv/data/*': ['read'] });
  await writePolicy(db, 'reader', { 'kv/data/*': ['read'], 'auth/token/lookup-self': ['read'] }, 'n1');
  root = (await insertToken(db)).token;
  reader = (await insertToken(db, { policies: ['reader'] })).token;
  ofTeam = (await insertToken(db, { policies: ['reader'], namespaceId: 'n1' })).token;
});
afterAll(() => db.close());

describe('a path that begins with a namespace', () => {
  test.each<[Partial<AccessRequest>, string]>([
    [{ path: 'team/kv/data/a' }, 'team: kv/data/a'],
    [{ path: 'team/inner/kv/data/a' }, 'team/inner: kv/data/a'],
    [{ path: 'team/sys/mounts/kv' }, 'team: sys/mounts/kv'],
    [{ path: 'inner/kv/data/a', namespace: 'team' }, 'team/inner: kv/data/a'],
    [{ path: 'team/kv/data/a', namespace: 'team/' }, 'team: team/kv/data/a'],
    [{ path: 'inner/kv/data/a' }, ': inner/kv/data/a'],
    [{ path: 'kv/data/team/kv/data/a' }, ': kv/data/team/kv/data/a'],
    [{ path: 'team' }, ': team'],
    [{ path: 'teams/kv/data/a' }, ': teams/kv/data/a'],
    [{ path: 'sys/mounts/team/kv' }, ': sys/mounts/team/kv'],
  ])('%j takes place in "%s"', async (over, place) => {
    expect(await placeOf(over)).toBe(place);
  });

  test('is decided by the same policies as with the header', async () => {
    for (const path of ['kv/data/a', 'kv/metadata/a'])
      expect(await placeOf({ token: reader, path: `team/${path}` })).toBe(
        await placeOf({ token: reader, namespace: 'team', path }),
      );
    expect(await placeOf({ token: ofTeam, path: 'team/kv/data/a' })).toBe('team: kv/data/a');
    expect(await placeOf({ token: ofTeam, path: 'kv/data/a' })).toBe('permission denied');
    expect(await placeOf({ path: 'team/sys/sync/config' })).toMatch(/only in the root and the admin/);
  });

  test('is found after the namespace was created, and no longer after it was deleted', async () => {
    const authenticator = newAuthenticator();
    const path = 'late/kv/data/a';
    const moveEpoch = () => db.query('update login.access_epoch set value = value + 1');
    expect(await placeOf({ path }, authenticator)).toBe(`: ${path}`);
    await db.query("insert into login.namespaces (id, path) values ('n9', 'late')");
    await moveEpoch();
    expect(await placeOf({ path }, authenticator)).toBe('late: kv/data/a');
    await db.query("delete from login.namespaces where id = 'n9'");
    await moveEpoch();
    expect(await placeOf({ path }, authenticator)).toBe(`: ${path}`);
  });

  test('costs no statement once it is known, and neither does a path without one', async () => {
    const authenticator = newAuthenticator();
    const paths = ['kv/data/a', 'team/inner/kv/data/a'];
    for (const path of paths) await placeOf({ path }, authenticator);
    statements = [];
    for (const path of paths) await placeOf({ path }, authenticator);
    await placeOf({ namespace: 'team', path: 'inner/kv/data/a' }, authenticator);
    expect(statements).toEqual(Array(3).fill(expect.stringContaining('from login.access_epoch')));
  });

  test('can be that of a login', async () => {
    const login = { operation: 'create-or-update', token: undefined } as const;
    expect(await placeOf({ ...login, path: 'team/auth/cloudB/login' })).toBe('team: auth/cloudB/login');
    for (const path of ['auth/cloudB/login', 'nowhere/auth/cloudB/login', 'team/inner/auth/cloudB/login'])
      expect(await placeOf({ ...login, path })).toBe('permission denied');
  });
});

describe('without a token, nobody learns which namespaces exist', () => {
  test.each(['sys/internal/specs/openapi', 'identity/oidc/plugins/.well-known/keys', 'sys/seal-status'])(
    '%s is the same in every namespace',
    async (path) => {
      for (const namespace of ['team', 'nowhere'])
        expect(await placeOf({ token: undefined, namespace, path })).toBe(`: ${path}`);
      for (const namespace of ['team', 'nowhere'])
        expect(await placeOf({ token: undefined, path: `${namespace}/${path}` })).toBe('permission denied');
    },
  );
});

test('what a token does with itself takes place in its own namespace, whichever the request names', async () => {
  const path = 'auth/token/lookup-self';
  for (const namespace of [undefined, 'team', 'team/inner', 'admin'])
    expect(await placeOf({ token: ofTeam, path, namespace })).toBe(`team: ${path}`);
  expect(await placeOf({ token: root, path: `team/${path}` })).toBe(`: ${path}`);
});

test('asking about the mount of a path consumes no use, and is refused once none is left', async () => {
  const { token } = await insertToken(db, { usesLeft: 1 });
  const asked = { token, path: 'sys/internal/ui/mounts/kv/a' };
  for (let round = 0; round < 3; round += 1) expect(await placeOf(asked)).toBe(`: ${asked.path}`);
  expect(await placeOf({ token })).toBe(': kv/data/a');
  expect(await placeOf(asked)).toBe('permission denied');
});

test('any token may ask about the mount of a path, and the service decides; others learn nothing', async () => {
  const path = 'sys/internal/ui/mounts/kv/a';
  expect(await placeOf({ token: reader, path })).toBe(`: ${path}`);
  expect(await placeOf({ token: undefined, path })).toBe('permission denied');
  expect(await placeOf({ token: reader, path, operation: 'delete' })).toBe('permission denied');
  expect(await placeOf({ token: reader, path, namespace: 'nowhere' })).toBe('permission denied');
  expect(await placeOf({ token: ofTeam, path })).toBe('permission denied');
});

test('a rate limit of a namespace applies to paths that begin with it', async () => {
  await db.query(
    `insert into login.rate_limit_quotas (name, namespace_id, path, written_path, rate, interval_seconds, block_seconds, inheritable, group_by)
     values ('of team', 'n1', 'kv', 'team/kv', 1, 3600, 0, false, 'ip')`,
  );
  const authenticator = newAuthenticator();
  expect(await placeOf({ path: 'team/kv/data/a' }, authenticator)).toBe('team: kv/data/a');
  expect(await placeOf({ path: 'team/kv/data/a' }, authenticator)).toMatch(/rate limit of team/);
  expect(await placeOf({ path: 'team/other/data/a' }, authenticator)).toBe('team: other/data/a');
});
