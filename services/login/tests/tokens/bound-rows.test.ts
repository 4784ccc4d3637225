import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  boundTokenColumns,
  createAuthenticator,
  newToken,
  rowGuard,
  type TokenColumns,
  tokenHash,
  tokenRow,
} from '@secrets/access';
import { insertToken } from '@secrets/access/testing';
import { parseKeyRing } from '@secrets/seal';
import { createIn, useCloudB } from '../login-for-test.ts';

// What somebody can do who may write to the database, but has no row key (docs/security.md).

const { cloudB, login } = useCloudB();
const create = (body: object = {}) =>
  createIn(login)({
    policies: 'dev',
    ttl: '1h',
    explicit_max_ttl: '2h',
    meta: { z: '1', a: 'é\u{1f600}' },
    bound_cidrs: ['127.0.0.1'],
    ...body,
  });
const change = (accessor: string, assignment: string) =>
  login.db.query(`update login.tokens set ${assignment} where accessor = $1`, [accessor]);
const newLine = (id: string, suffix = '') => `${id}:${randomBytes(32).toString('base64')}${suffix}\n`;

/** The verdict of a gateway that has just started. */
const isAccepted = async (token: string, rowKeys = login.rowKeys) => {
  const { db, keys } = login;
  const decision = await createAuthenticator({ db, keys, rows: rowGuard(rowKeys) }).authenticate({
    ...{ token, namespace: undefined, operation: 'read', path: 'auth/token/lookup-self' },
    ...{ remoteAddress: '127.0.0.1', requestId: 'r' },
  });
  return decision.allowed;
};

beforeAll(async () => {
  await login.call('PUT', '/sys/policies/acl/dev', { policy: '' });
  await login.call('POST', '/sys/namespaces/team');
});

describe('a token is believed', () => {
  test.each(['service', 'with every option'])('that was created: %s', async (kind) => {
    const { body } = await create(
      kind === 'service'
        ? {}
        : { period: '10m', explicit_max_ttl: 0, num_uses: 3, display_name: 'd', no_parent: true },
    );
    expect(await isAccepted(body.auth.client_token)).toBe(true);
  });

  test('of a login, alone and with others, the first time and again, and after its renewal', async () => {
    const first = await cloudB.logInWith({});
    const others = await Promise.all([cloudB.logInWith({}), cloudB.logInWith({}), cloudB.logInWith({})]);
    for (const { body } of [first, ...others]) expect(await isAccepted(body.auth.client_token)).toBe(true);
    const renewed = await login.call('POST', '/auth/token/renew-self', {}, login.callerOf(first));
    expect(renewed.status).toBe(200);
    expect(await isAccepted(first.body.auth.client_token)).toBe(true);
  });

  test('after a rotation of the row key, until the key with which it was created is gone', async () => {
    const [older, newer] = [newLine('r1', ' bound'), newLine('r2', ' bound')];
    const token = await insertBound(older);
    const ring = (...lines: string[]) => parseKeyRing(lines.join(''), 'test');
    expect(await isAccepted(token, ring(older))).toBe(true);
    expect(await isAccepted(token, ring(newer, older))).toBe(true);
    expect(await isAccepted(token, ring(newer))).toBe(false);
  });

  test('of the version before, which has no hash, only while the current key is not bound', async () => {
    const { token } = await insertToken(login.db, { policies: ['default'] });
    expect(await isAccepted(token, parseKeyRing(newLine('r1'), 'test'))).toBe(true);
    expect(await isAccepted(token)).toBe(false);
  });
});

/** Creates a token as login does with another row key. */
async function insertBound(line: string): Promise<string> {
  const { body } = await create({ bound_cidrs: [] });
  const text = newToken().reveal();
  const [row] = await login.db.query<TokenColumns>('select * from login.tokens where accessor = $1', [
    body.auth.accessor,
  ]);
  const rowHash = rowGuard(parseKeyRing(line, 'test')).hashOf(tokenRow(tokenHash(text), row!));
  await login.db.query('update login.tokens set hash = $2, row_hash = $3 where accessor = $1', [
    body.auth.accessor,
    tokenHash(text),
    rowHash,
  ]);
  return text;
}

describe('whoever writes to the database without the row key', () => {
  test('authenticates nobody with an inserted token, neither at the gateway nor at login', async () => {
    const { token, accessor } = await insertToken(login.db, { policies: ['root'] });
    expect(await isAccepted(token)).toBe(false);
    expect((await login.call('POST', '/auth/token/lookup', { token })).status).toBe(404);
    expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor })).status).toBe(404);
    expect((await login.call('POST', '/auth/token/renew', { token })).status).toBe(404);
    const caller = { ...login.root, accessor };
    expect((await login.call('POST', '/auth/token/create', {}, caller)).status).toBe(403);
    expect((await login.call('GET', '/auth/token/lookup-self', undefined, caller)).status).toBe(404);
    expect(login.logged()).toContain(`"name":"${accessor}"`);
    expect((await login.call('POST', '/auth/token/revoke-accessor', { accessor })).status).toBe(204);
  });

  /** A change of each column that matters. */
  const changes: Record<(typeof boundTokenColumns)[number], string> = {
    accessor: `accessor = 'x' || accessor`,
    namespace_id: `namespace_id = (select id from login.namespaces where path = 'team')`,
    display_name: `display_name = 'root'`,
    creation_path: `creation_path = 'auth/token/root'`,
    policies: `policies = '{root}'`,
    metadata: `metadata = '{"z": "1", "a": "3"}'`,
    bound_cidrs: `bound_cidrs = '{}'`,
    renewable: 'renewable = false',
    ttl_seconds: 'ttl_seconds = 0',
    period_seconds: 'period_seconds = 3600',
    explicit_max_ttl_seconds: 'explicit_max_ttl_seconds = 0',
    max_expires_at: 'max_expires_at = null',
    role_name: `role_name = 'other'`,
    mount_id: 'mount_id = (select id from login.auth_mounts limit 1)',
    login_source: `login_source = '{"role": "other"}'`,
  };

  test.each(boundTokenColumns)('cannot change %s of a token', async (column) => {
    const { client_token: token } = (await create()).body.auth;
    expect(await isAccepted(token)).toBe(true);
    await login.db.query(`update login.tokens set ${changes[column]} where hash = $1`, [tokenHash(token)]);
    expect(await isAccepted(token)).toBe(false);
    expect((await login.call('POST', '/auth/token/lookup', { token })).status).toBe(404);
  });

  test('cannot use the row of a token with a text of their own', async () => {
    const { client_token: token, accessor } = (await create({ policies: 'root' })).body.auth;
    const own = newToken().reveal();
    await change(accessor, `hash = '\\x${tokenHash(own).toString('hex')}'`);
    expect([await isAccepted(own), await isAccepted(token)]).toEqual([false, false]);
  });

  test('cannot have a token live past its maximum', async () => {
    const { client_token: token, accessor } = (await create()).body.auth;
    await change(accessor, `expires_at = now() + interval '9 years'`);
    const { body } = await login.call('POST', '/auth/token/lookup', { token });
    expect(body.data.ttl).toBeLessThanOrEqual(7_200);
  });
});

test('each column of a token is either bound, or changes during its life', async () => {
  const columns = await login.db.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_schema = 'login' and table_name = 'tokens'`,
  );
  const changing = [
    'created_at',
    'entity_id',
    'expires_at',
    'orphans_children',
    'parent_accessor',
    'renewed_at',
    'uses_left',
  ];
  expect(columns.map(({ name }) => name).sort()).toEqual(
    [...boundTokenColumns, 'hash', 'row_hash', ...changing].sort(),
  );
});
