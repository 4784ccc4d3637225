import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthenticator } from '@secrets/access';
import { testCaller } from '@secrets/http/testing';
import { sweepTokens } from '../src/tokens/sweep-tokens.ts';
import { type LoginForTest, loginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await loginForTest({ rootTokenFile: join(mkdtempSync(join(tmpdir(), 'tokens-')), 'root') });
});
afterAll(() => login.stop());

const create = async (body: object = {}, caller = login.root) => {
  const answer = await login.call('POST', '/auth/token/create', body, caller);
  expect(answer.status).toBe(200);
  return answer;
};
const lookedUp = async (token: string) => login.call('POST', '/auth/token/lookup', { token });

test('a token is made, looked up, renewed and revoked', async () => {
  const made = await create({
    policies: 'dev',
    ttl: '1h',
    meta: { a: 'b' },
    display_name: 'x',
    num_uses: '3',
    bound_cidrs: '10.0.0.0/8',
  });
  expect(made.body.auth).toMatchObject({
    client_token: expect.stringMatching(/^sst_/),
    policies: ['default', 'dev'],
    lease_duration: 3_600,
    renewable: true,
    metadata: { a: 'b' },
    token_type: 'service',
    orphan: false,
    num_uses: 3,
  });
  const { client_token: token, accessor } = made.body.auth;
  const found = await lookedUp(token);
  expect(found.body.data).toMatchObject({
    accessor,
    display_name: 'token-x',
    path: 'auth/token/create',
    num_uses: 3,
    bound_cidrs: ['10.0.0.0/8'],
    type: 'service',
  });
  expect(JSON.stringify(found.body)).not.toContain(token);
  expect(
    (await login.call('GET', '/auth/token/lookup-self', undefined, login.callerOf(made))).body.data,
  ).toMatchObject({ accessor });
  expect(
    (await login.call('POST', '/auth/token/lookup-accessor', { accessor })).body.data.ttl,
  ).toBeGreaterThan(3_000);
  const renewed = await login.call(
    'POST',
    '/auth/token/renew-self',
    { increment: '2h' },
    login.callerOf(made),
  );
  expect(renewed.body.auth).toMatchObject({ lease_duration: 7_200, client_token: '' });
  expect((await login.call('POST', '/auth/token/renew', { token })).body.auth.lease_duration).toBeGreaterThan(
    6_600,
  );
  const before = await login.epoch();
  expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(204);
  expect(await login.epoch()).toBe(before + 1);
  expect((await lookedUp(token)).status).toBe(404);
  expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(204);
  expect((await login.call('POST', '/auth/token/revoke-accessor', { accessor })).status).toBe(404);
});

test('revoking a parent revokes its children, and theirs; revoke-orphan spares them', async () => {
  const parent = await create({ policies: 'dev' });
  const child = await create({}, login.callerOf(parent));
  const grandchild = await create({}, login.callerOf(child));
  const orphan = await create({ no_parent: true }, login.callerOf(parent, { grants: ['update', 'sudo'] }));
  await login.call('POST', '/auth/token/revoke-self', undefined, login.callerOf(parent));
  expect((await lookedUp(child.body.auth.client_token)).status).toBe(404);
  expect((await lookedUp(grandchild.body.auth.client_token)).status).toBe(404);
  expect((await lookedUp(orphan.body.auth.client_token)).body.data.orphan).toBe(true);

  const other = await create({ policies: 'dev' });
  const spared = await create({}, login.callerOf(other));
  await login.call('POST', '/auth/token/revoke-orphan', { token: other.body.auth.client_token });
  expect((await lookedUp(spared.body.auth.client_token)).body.data.orphan).toBe(true);
  expect((await create({}, login.callerOf(spared))).status).toBe(200);
  expect((await login.call('POST', '/auth/token/create', {}, login.callerOf(other))).status).toBe(403);
});

test.each(['service', 'batch'])(
  'a %s token works from nowhere else than the token that made it',
  async (type) => {
    const parent = login.callerOf(await create({ policies: 'dev', bound_cidrs: '10.0.0.0/8' }));
    const made = await create({ type }, parent);
    const { client_token: token } = made.body.auth;
    expect((await lookedUp(token)).body.data.bound_cidrs).toEqual(['10.0.0.0/8']);
    const wider = await login.call('POST', '/auth/token/create', { type, bound_cidrs: '0.0.0.0/0' }, parent);
    expect([wider.status, wider.body.errors]).toEqual([
      400,
      ['bound_cidrs must lie within those of the token that asks'],
    ]);
  },
);

describe('what a token may not make', () => {
  const ordinary = () => create({ policies: 'dev' }).then((made) => login.callerOf(made));
  test.each<[object, number, RegExp]>([
    [{ policies: 'ops' }, 400, /must be among/],
    [{ policies: ['root'] }, 403, /permission denied/],
    [{ no_parent: true }, 403, /permission denied/],
    [{ period: '1h' }, 403, /permission denied/],
    [{ ttl: -1 }, 400, /ttl/],
    [{ bound_cidrs: ['10.0.0.0/99'] }, 400, /bound_cidrs/],
    [{ type: 'other' }, 400, /type/],
    [{ type: 'batch', num_uses: 1 }, 400, /num_uses/],
    [{ type: 'batch', renewable: true }, 400, /renewable/],
    [{ num_uses: -1 }, 400, /num_uses/],
  ])('%j', async (body, status, sentence) => {
    const answer = await login.call('POST', '/auth/token/create', body, await ordinary());
    expect(answer.status).toBe(status);
    expect(answer.body.errors[0]).toMatch(sentence);
  });

  test('anything, with limited uses or as a batch token', async () => {
    const limited = login.callerOf(await create({ policies: 'dev', num_uses: 5 }));
    expect((await login.call('POST', '/auth/token/create', {}, limited)).status).toBe(400);
    const batch = testCaller({ accessor: null, tokenType: 'batch' });
    expect((await login.call('POST', '/auth/token/create', {}, batch)).status).toBe(400);
    expect((await login.call('POST', '/auth/token/renew-self', {}, batch)).status).toBe(400);
    expect((await login.call('POST', '/auth/token/revoke-self', {}, batch)).status).toBe(400);
    expect((await login.call('GET', '/auth/token/lookup-self', undefined, batch)).body.data.type).toBe(
      'batch',
    );
  });
});

test('a batch token is stored nowhere, works, and ends with its parent', async () => {
  const parent = await create({ policies: 'dev' });
  const batch = await create({ type: 'batch', ttl: '1h' }, login.callerOf(parent));
  const { client_token: token } = batch.body.auth;
  expect(batch.body.auth).toMatchObject({
    accessor: '',
    renewable: false,
    token_type: 'batch',
    lease_duration: 3_600,
  });
  expect((await lookedUp(token)).body.data).toMatchObject({ type: 'batch', policies: ['default', 'dev'] });
  expect((await login.call('POST', '/auth/token/renew', { token })).status).toBe(400);
  expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(400);
  const gateway = createAuthenticator({ db: login.db, keys: login.keys });
  const asked = () =>
    gateway.authenticate({
      token,
      namespace: undefined,
      operation: 'read',
      path: 'auth/token/lookup-self',
      remoteAddress: '127.0.0.1',
      requestId: 'r',
    });
  expect((await asked()).allowed).toBe(true);
  await login.call('POST', '/auth/token/revoke', { token: parent.body.auth.client_token });
  expect((await asked()).allowed).toBe(false);
});

test('a maximum ends every renewal; a token that is not renewable stays as it is', async () => {
  const capped = await create({ policies: 'dev', ttl: 60, explicit_max_ttl: 100 });
  const renewed = await login.call(
    'POST',
    '/auth/token/renew-self',
    { increment: 600 },
    login.callerOf(capped),
  );
  expect(renewed.body.auth.lease_duration).toBeLessThanOrEqual(100);
  const fixed = await create({ policies: 'dev', renewable: false });
  expect((await login.call('POST', '/auth/token/renew-self', {}, login.callerOf(fixed))).status).toBe(400);
  const over = await create({ policies: 'dev', ttl: '1000h' });
  expect(over.body.auth.lease_duration).toBe(768 * 3_600);
  expect(over.body.warnings[0]).toMatch(/cut down/);
});

test('tokens of another namespace are out of reach, those below are not', async () => {
  expect((await login.call('POST', '/sys/namespaces/reach')).status).toBe(200);
  const { id } = (await login.call('GET', '/sys/namespaces/reach')).body.data;
  const reach = { id, path: 'reach' };
  const made = await create({ policies: 'dev' }, { ...login.root, namespace: reach });
  expect((await lookedUp(made.body.auth.client_token)).body.data.namespace_path).toBe('reach/');
  const above = await create({ policies: 'dev' });
  const body = { accessor: above.body.auth.accessor };
  const within = testCaller({ namespace: reach, tokenNamespace: reach });
  expect((await login.call('POST', '/auth/token/lookup-accessor', body, within)).status).toBe(404);
  expect((await login.call('POST', '/auth/token/revoke-accessor', body, within)).status).toBe(404);
});

test.each(['service', 'batch'])(
  'a %s token of a namespace below is found, one of a namespace above is not',
  async (type) => {
    const [top, inner] = ['reach-top', 'reach-top/inner'];
    for (const path of [top, inner]) await login.call('POST', `/sys/namespaces/${path}`);
    const namespaceOf = async (path: string) => ({
      id: (await login.call('GET', `/sys/namespaces/${path}`)).body.data.id,
      path,
    });
    const within = async (path: string) => ({ ...login.root, namespace: await namespaceOf(path) });
    const made = await create({ policies: 'dev', type }, await within(inner));
    const { client_token: token } = made.body.auth;
    const asked = async (path: string) =>
      login.call('POST', '/auth/token/lookup', { token }, await within(path));
    expect((await asked(inner)).body.data.namespace_path).toBe('reach-top/inner/');
    expect((await asked(top)).body.data.namespace_path).toBe('reach-top/inner/');
    const above = await create({ policies: 'dev', type }, await within(top));
    const unseen = await login.call(
      'POST',
      '/auth/token/lookup',
      { token: above.body.auth.client_token },
      await within(inner),
    );
    expect(unseen.status).toBe(404);
  },
);

test.each(['service', 'batch'])(
  'a %s token tells its true end, which is that of its parent when that comes first',
  async (type) => {
    const grandparent = await create({ policies: 'dev', ttl: 60 });
    const parent = await create({ ttl: '1h' }, login.callerOf(grandparent));
    const made = await create({ ttl: '5h', type }, login.callerOf(parent));
    expect(made.body.warnings[0]).toMatch(/cut down/);
    const { client_token: token, lease_duration } = made.body.auth;
    const { ttl, expire_time } = (await lookedUp(token)).body.data;
    for (const seconds of [lease_duration, ttl, (Date.parse(expire_time) - Date.now()) / 1000]) {
      expect(seconds).toBeLessThanOrEqual(60);
      expect(seconds).toBeGreaterThan(0);
    }
    // Its own end is not moved: once the parents live on, so does what they made.
    const later = { increment: '2h' };
    for (const ancestor of [grandparent, parent])
      await login.call('POST', '/auth/token/renew-self', later, login.callerOf(ancestor));
    expect((await lookedUp(token)).body.data.ttl).toBeGreaterThan(7_000);
  },
);

test('what a token that ends has made never lives for ever, and its renewal tells the true end', async () => {
  const parent = await create({ ttl: 60 });
  const forever = await create({}, { ...login.root, accessor: parent.body.auth.accessor });
  expect(forever.body.auth.lease_duration).toBeGreaterThan(0);
  expect((await lookedUp(forever.body.auth.client_token)).body.data.expire_time).not.toBeNull();
  const child = await create(
    { policies: 'dev', ttl: 30 },
    { ...login.root, accessor: parent.body.auth.accessor },
  );
  const renewed = await login.call(
    'POST',
    '/auth/token/renew-self',
    { increment: '1h' },
    login.callerOf(child),
  );
  expect(renewed.body.auth.lease_duration).toBeLessThanOrEqual(60);
});

test('the sweep deletes what has ended, page by page, with its children', async () => {
  await sweepTokens(login.db);
  const parent = await create({ policies: 'dev', ttl: 60 });
  const child = await create({ ttl: '5h' }, login.callerOf(parent));
  await login.db.query(
    `insert into login.tokens (hash, accessor, namespace_id, display_name, creation_path, policies, renewable, ttl_seconds, expires_at)
     select decode(md5(n::text), 'hex'), 'old' || n, 'root', '', '', '{}', false, 1, now() - interval '1 s' from generate_series(1, 1100) n`,
  );
  await login.db.query('update login.tokens set expires_at = now() where accessor = $1', [
    parent.body.auth.accessor,
  ]);
  const before = await login.epoch();
  expect(await sweepTokens(login.db)).toBe(1_101);
  expect(await login.epoch()).toBeGreaterThan(before);
  expect((await lookedUp(child.body.auth.client_token)).status).toBe(404);
  expect(await sweepTokens(login.db)).toBe(0);
});

test('the sweep deletes tokens whose uses are spent', async () => {
  await sweepTokens(login.db);
  const spent = await create({ policies: 'dev', num_uses: 1 });
  const unspent = await create({ policies: 'dev', num_uses: 2 });
  await login.db.query('update login.tokens set uses_left = uses_left - 1 where uses_left is not null');
  expect(await sweepTokens(login.db)).toBe(1);
  const left = await login.db.query('select 1 from login.tokens where accessor = any($1::text[])', [
    [spent.body.auth.accessor, unspent.body.auth.accessor],
  ]);
  expect(left.length).toBe(1);
});

test('what was made with a token that has ended is not found, although the sweep has not come yet', async () => {
  const parent = await create({ policies: 'dev', ttl: 60 });
  const child = await create({ ttl: '5h' }, login.callerOf(parent));
  const batch = await create({ ttl: '5h', type: 'batch' }, login.callerOf(parent));
  const both = [child, batch].map((made) => made.body.auth.client_token);
  for (const token of both) expect((await lookedUp(token)).status).toBe(200);
  await login.db.query('update login.tokens set expires_at = now() where accessor = $1', [
    parent.body.auth.accessor,
  ]);
  for (const token of both) expect((await lookedUp(token)).status).toBe(404);
  const { accessor } = child.body.auth;
  expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor })).status).toBe(404);
});

test.each([
  [51, 1, 'policies: must hold at most 50 names'],
  [50, 128, 'policies: must have at most 4096 characters together'],
])(
  '%i policies of %i characters are too much for every request to carry',
  async (count, length, sentence) => {
    const policies = Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'p'));
    const { status, body } = await login.call('POST', '/auth/token/create', { policies });
    expect([status, body.errors]).toEqual([400, [sentence]]);
  },
);

test('more addresses than a request can be held against are refused', async () => {
  const cidrs = (count: number) => Array.from({ length: count }, (_, index) => `10.0.${index}.0/24`);
  await create({ policies: 'dev', bound_cidrs: cidrs(100) });
  const { status, body } = await login.call('POST', '/auth/token/create', { bound_cidrs: cidrs(101) });
  expect([status, body.errors]).toEqual([400, ['bound_cidrs: must hold at most 100 CIDRs or addresses']]);
});
