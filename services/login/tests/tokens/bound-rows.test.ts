import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  boundTokenColumns,
  createAuthenticator,
  createPolicyReader,
  newToken,
  readStoredContent,
  rowGuard,
  type TokenColumns,
  tokenHash,
  tokenRow,
} from '@secrets/access';
import { insertToken } from '@secrets/access/testing';
import { testCaller } from '@secrets/http/testing';
import { parseKeyRing } from '@secrets/seal';
import { believedSettings, hashOfMerged } from '../../src/rows/believed-settings.ts';
import { rebindRows } from '../../src/rows/rebind-rows.ts';
import { createIn, oid, useCloudB } from '../login-for-test.ts';

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
const isAccepted = async (token: string, rowKeys = login.rowKeys, path = 'auth/token/lookup-self') => {
  const { db, keys } = login;
  const decision = await createAuthenticator({ db, keys, rows: rowGuard(rowKeys) }).authenticate({
    ...{ token, namespace: undefined, operation: 'read', path },
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

describe('a policy', () => {
  const ringOf = (...lines: string[]) => parseKeyRing(lines.join(''), 'test');
  const write = (name: string, path: string) =>
    login.call('PUT', `/sys/policies/acl/${name}`, { policy: `path "${path}" { capabilities = ["read"] }` });
  const set = (name: string, assignment: string) =>
    login.db.query(`update login.policies set ${assignment} where name = $1`, [name]);
  const capabilities = (policies: string[]) =>
    login.call('POST', '/sys/capabilities-self', { paths: ['kv/b'] }, testCaller({ policies }));
  const wider = `rules = '{"paths": [{"path": "*", "capabilities": ["read"]}]}'`;
  let token: string;
  const may = (path: string, rowKeys = login.rowKeys) => isAccepted(token, rowKeys, path);

  beforeAll(async () => {
    for (const name of ['one', 'two']) await write(name, `kv/${name}`);
    token = (await create({ policies: ['one', 'two'], bound_cidrs: [] })).body.auth.client_token;
  });
  beforeEach(async () => {
    await write('one', 'kv/one');
  });

  test('is believed as it was written, and written again', async () => {
    expect(await Promise.all([may('kv/one'), may('kv/two'), may('kv/b')])).toEqual([true, true, false]);
    await write('one', 'kv/b');
    expect(await Promise.all([may('kv/one'), may('kv/b')])).toEqual([false, true]);
  });

  /** Changes the rules and keeps the hash, which takes two statements (`login.forget_row_hash`). */
  const widen = async (name: string) => {
    const stored = await readStoredContent(login.db, 'login.policies', [], 100);
    await set(name, wider);
    await set(name, `row_hash = '${stored.find(({ row }) => row.name === `root/${name}`)!.rowHash}'`);
  };

  test.each<[string, () => Promise<unknown>]>([
    ['changed', () => widen('one')],
    ['changed, without its hash', () => set('one', wider)],
    ['stripped of its hash', () => set('one', 'row_hash = null')],
    [
      'given the rules and the hash of another',
      () => set('one', `(rules, row_hash) = (select rules, row_hash from login.policies where name = 'two')`),
    ],
  ])('grants nothing if it is %s, and neither do the others of its token', async (_how, attack) => {
    await attack();
    expect(await Promise.all([may('kv/one'), may('kv/two'), may('kv/b')])).toEqual([false, false, false]);
    expect((await capabilities(['one', 'two'])).status).toBe(403);
    expect((await capabilities(['two'])).status).toBe(200);
    await write('one', 'kv/one');
    expect(await may('kv/one')).toBe(true);
  });

  test('of the version before, or that it has changed, is believed only while the current key is not bound', async () => {
    const [line, bound] = [newLine('r1'), newLine('r2', ' bound')];
    const rows = rowGuard(ringOf(line));
    const [one] = await readStoredContent(login.db, 'login.policies', ['root', 'dev'], 1);
    expect(one!.row.name).toBe('root/one');
    await set('one', `row_hash = '${rows.hashOf(one!.row)}'`);
    await set('one', wider); // as the version before does, which knows no hashes
    for (const ring of [ringOf(line), ringOf(line, bound)]) {
      const verdict = await createPolicyReader({ db: login.db, rows: rowGuard(ring) }).mayRead(
        testCaller({ policies: ['one'] }),
        'kv/b',
      );
      expect(verdict).toBe(true);
    }
    const reader = createPolicyReader({ db: login.db, rows: rowGuard(ringOf(bound, line)) });
    await expect(reader.mayRead(testCaller({ policies: ['one'] }), 'kv/b')).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('is bound by the current key after a rotation, unless it was changed, so that the earlier key can go', async () => {
    const newer = newLine('r2', ' bound');
    const rowKeys = { ...ringOf(newer), keys: [...ringOf(newer).keys, ...login.rowKeys.keys] };
    const find = (id: string) => rowKeys.keys.find((key) => key.id === id);
    const after = { ...rowKeys, find };
    await widen('two');
    await rebindRows({ db: login.db, rows: rowGuard(after), rowKeys: after, isStopping: () => false });
    const stored = await readStoredContent(login.db, 'login.policies', [], 100);
    expect(stored.map(({ row, rowHash }) => [row.name, rowHash?.split(':')[0]])).toEqual([
      ['root/one', 'r2'],
      ['root/two', 'r1'],
    ]);
    const reader = createPolicyReader({ db: login.db, rows: rowGuard(ringOf(newer)) });
    expect(await reader.mayRead(testCaller({ policies: ['one'] }), 'kv/one')).toBe(true);
    await expect(reader.mayRead(testCaller({ policies: ['two'] }), 'kv/x')).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('a role', () => {
  const tables = ['token_roles', 'cloudb_roles'] as const;
  const paths = { token_roles: '/auth/token/roles/ci', cloudb_roles: '/auth/cloudB/role/web' };
  const fields = {
    token_roles: { allowed_policies: ['dev'] },
    cloudb_roles: { bound_service_principal_ids: [oid], token_policies: ['dev'] },
  };
  const wider = { token_roles: { allowed_policies: ['other'] }, cloudb_roles: { token_policies: ['root'] } };
  const use = (table: (typeof tables)[number]) =>
    table === 'cloudb_roles' ? cloudB.logInWith({}) : login.call('POST', '/auth/token/create/ci', {});
  const change = async (table: (typeof tables)[number]) => {
    const [stored] = await login.db.query<{ row_hash: string }>(`select row_hash from login.${table}`);
    const settings = JSON.stringify(wider[table]);
    await login.db.query(`update login.${table} set settings = settings || $1::jsonb`, [settings]);
    await login.db.query(`update login.${table} set row_hash = $1`, [stored!.row_hash]);
    await login.call('POST', '/sys/auth/cloudB/tune', { description: randomUUID() }); // so that logins notice it
  };

  beforeEach(async () => {
    await login.call('DELETE', '/auth/cloudB/config'); // the rotation above has bound it with a key that login does not have
    await cloudB.configure();
    for (const table of tables) {
      await login.call('DELETE', paths[table]);
      expect((await login.call('POST', paths[table], fields[table])).status).toBeLessThan(300);
    }
  });

  test.each(tables)('of %s is used as it was written, and after a field was written again', async (table) => {
    expect((await use(table)).status).toBe(200);
    expect((await login.call('POST', paths[table], { token_explicit_max_ttl: 3_600 })).status).toBeLessThan(
      300,
    );
    expect((await use(table)).status).toBe(200);
  });

  test.each(tables)(
    'of %s that was changed is neither used nor merged into, until it is created again',
    async (table) => {
      const used = login.callerOf(await use(table));
      await change(table);
      const expected = {
        status: 409,
        body: { errors: [expect.stringMatching(/role (ci|web): is not as this service has written it/)] },
      };
      expect(await use(table)).toMatchObject(expected);
      expect(await login.call('POST', '/auth/token/renew-self', {}, used)).toMatchObject(expected);
      expect(await login.call('GET', paths[table])).toMatchObject(expected);
      expect(await login.call('POST', paths[table], { token_explicit_max_ttl: 3_600 })).toMatchObject(
        expected,
      );
      expect((await login.call('DELETE', paths[table])).status).toBe(204);
      await login.call('POST', paths[table], fields[table]);
      expect((await use(table)).status).toBe(200);
    },
  );

  test('of the version before gets no hash by a write that keeps some of its fields', async () => {
    const [row, rows] = [{ settings: {}, rowHash: null }, rowGuard(parseKeyRing(newLine('r1'), 'test'))];
    const key = { table: 'login.token_roles', key: ['root', 'ci'] } as const;
    expect(believedSettings(rows, key, row)).toEqual({});
    expect(hashOfMerged(rows, key, row, {})).toBeNull();
    expect(hashOfMerged(rows, key, undefined, {})).toMatch(/^r1:/);
  });

  test('is bound by the current key after a rotation', async () => {
    const newer = parseKeyRing(newLine('r2', ' bound'), 'test');
    const keys = [...newer.keys, ...login.rowKeys.keys];
    const rowKeys = { ...newer, keys, find: (id: string) => keys.find((key) => key.id === id) };
    const rows = rowGuard(rowKeys);
    await rebindRows({ db: login.db, rows, rowKeys, isStopping: () => false });
    for (const table of tables) {
      const [role] = await readStoredContent(login.db, `login.${table}`, [], 1);
      expect([role!.rowHash?.split(':')[0], rows.accepts(role!.row, role!.rowHash)]).toEqual(['r2', true]);
    }
  });
});
