import { beforeEach, describe, expect, test } from '@jest/globals';
import { sweepTokens } from '../../src/tokens/sweep-tokens.ts';
import { createIn, type LoginForTest, useLogin } from '../login-for-test.ts';

const login = useLogin({ rowsAreBound: false });
const create = createIn(login);

const lookUp = (token: string) => login.call('POST', '/auth/token/lookup', { token });
const renew = (caller: ReturnType<LoginForTest['callerOf']>, increment: string | number) =>
  login.call('POST', '/auth/token/renew-self', { increment }, caller);
const expire = ({ body }: { body: { auth: { accessor: string } } }) =>
  login.db.query('update login.tokens set expires_at = now() where accessor = $1', [body.auth.accessor]);

test('a renewal does not extend a token past its explicit maximum', async () => {
  const capped = login.callerOf(await create({ policies: 'dev', ttl: 60, explicit_max_ttl: 100 }));
  const { lease_duration } = (await renew(capped, 600)).body.auth;
  expect(lease_duration).toBeGreaterThan(60);
  expect(lease_duration).toBeLessThanOrEqual(100);
});

test('a lifetime above the maximum is shortened with a warning', async () => {
  const { body } = await create({ policies: 'dev', ttl: '1000h' });
  expect(body.auth.lease_duration).toBe(768 * 3_600);
  expect(body.warnings[0]).toMatch(/was shortened/);
});

test('a renewal does not extend a token past its maximum, and says so', async () => {
  const created = await create({ policies: 'dev', ttl: 60, max_ttl: 100 });
  const { accessor } = created.body.auth;
  const { body } = await login.call('POST', '/auth/token/renew-accessor', { accessor, increment: 600 });
  expect(body.auth).toMatchObject({ accessor, renewable: true, client_token: '' });
  expect(body.auth.lease_duration).toBeGreaterThan(60);
  expect(body.auth.lease_duration).toBeLessThanOrEqual(100);
  expect(body.warnings[0]).toMatch(/was shortened/);
  expect((await renew(login.callerOf(created), 10)).body.warnings).toBeNull();
});

test('a renewal by less than the remaining lifetime shortens a token, also in caches', async () => {
  const created = await create({ policies: 'dev', ttl: '1h' });
  const before = await login.epoch();
  expect((await renew(login.callerOf(created), 60)).body.auth.lease_duration).toBe(60);
  expect(await login.epoch()).toBe(before + 1);
  expect((await lookUp(created.body.auth.client_token)).body.data.ttl).toBeLessThanOrEqual(60);
  expect((await renew(login.callerOf(created), 600)).body.auth.lease_duration).toBe(600);
  expect(await login.epoch()).toBe(before + 1);
});

test('renewing the token of somebody else never shortens it, but keeps it within its maximum', async () => {
  const created = await create({ policies: 'dev', ttl: '1h', max_ttl: '2h' });
  const { accessor } = created.body.auth;
  const calls = [
    ['renew-accessor', { accessor, increment: 1 }],
    ['renew-accessor', { accessor }],
  ] as const;
  await renew(login.callerOf(created), '90m');
  for (const [name, sent] of calls) {
    const { body } = await login.call('POST', `/auth/token/${name}`, sent);
    expect(body.auth.lease_duration).toBeGreaterThan(5_390);
    expect(body.warnings).toEqual('increment' in sent ? [expect.stringMatching(/keeps its longer/)] : null);
  }
  await login.db.query(
    "update login.tokens set max_expires_at = now() + interval '60 s', row_hash = null where accessor = $1",
    [accessor],
  );
  const { body } = await login.call('POST', '/auth/token/renew-accessor', { accessor });
  expect(body.auth.lease_duration).toBeLessThanOrEqual(60);
});

test('a period that a command line leaves empty does not hide that a lifetime was shortened', async () => {
  const { body } = await create({ policies: 'default', ttl: '1000h', period: 0 });
  expect(body.warnings).toEqual([expect.stringMatching(/was shortened/)]);
});

test('a periodic token is extended by its period at each renewal, whatever the increment', async () => {
  const sudo = login.root;
  const periodic = login.callerOf(await create({ policies: 'dev', period: '1h', ttl: 60 }, sudo));
  await login.db.query("update login.tokens set expires_at = now() + interval '1 s' where accessor = $1", [
    periodic.accessor,
  ]);
  expect((await renew(periodic, 5)).body.auth.lease_duration).toBe(3_600);
  const capped = await create({ policies: 'dev', period: '1h', explicit_max_ttl: 1_800 }, sudo);
  expect(capped.body.auth.lease_duration).toBe(1_800);
});

describe('a token does not outlive its ancestors', () => {
  test.each(['service', 'batch'])('a %s token reports the earliest expiry among them', async (type) => {
    const grandparent = await create({ policies: 'dev', ttl: 60 });
    const parent = await create({ ttl: '1h' }, login.callerOf(grandparent));
    const { body } = await create({ ttl: '5h', type }, login.callerOf(parent));
    expect(body.warnings[0]).toMatch(/was shortened/);
    const { client_token: token, lease_duration } = body.auth;
    const { ttl, expire_time } = (await lookUp(token)).body.data;
    for (const seconds of [lease_duration, ttl, (Date.parse(expire_time) - Date.now()) / 1000]) {
      expect(seconds).toBeLessThanOrEqual(60);
      expect(seconds).toBeGreaterThan(0);
    }
    // Its own expiry did not change: it lives as long as planned once its ancestors are renewed.
    for (const ancestor of [grandparent, parent]) await renew(login.callerOf(ancestor), '2h');
    expect((await lookUp(token)).body.data.ttl).toBeGreaterThan(7_000);
  });

  test('even if it is a root token', async () => {
    const parent = await create({ ttl: 60 });
    const asParent = { ...login.root, accessor: parent.body.auth.accessor };
    const { auth } = (await create({}, asParent)).body;
    expect(auth.policies).toEqual(['root']);
    expect(auth.lease_duration).toBeGreaterThan(0);
    expect((await lookUp(auth.client_token)).body.data.expire_time).not.toBeNull();
  });

  test('even if it is renewed', async () => {
    const parent = await create({ policies: 'dev', ttl: 60 });
    const child = await create({ ttl: 30 }, login.callerOf(parent));
    const { lease_duration } = (await renew(login.callerOf(child), '1h')).body.auth;
    expect(lease_duration).toBeGreaterThan(30);
    expect(lease_duration).toBeLessThanOrEqual(60);
  });

  test('and is not found once one of them has expired, before the sweep deletes it', async () => {
    const parent = await create({ policies: 'dev', ttl: 60 });
    const child = await create({ ttl: '5h' }, login.callerOf(parent));
    const batch = await create({ ttl: '5h', type: 'batch' }, login.callerOf(parent));
    const tokens = [child, batch].map(({ body }) => body.auth.client_token);
    for (const token of tokens) expect((await lookUp(token)).status).toBe(200);
    await expire(parent);
    for (const token of tokens) expect((await lookUp(token)).status).toBe(404);
    const { accessor } = child.body.auth;
    expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor })).status).toBe(404);
  });
});

describe('the sweep', () => {
  beforeEach(() => sweepTokens(login));

  test('deletes expired tokens with their children, page by page, and moves the epoch', async () => {
    const parent = await create({ policies: 'dev', ttl: 60 });
    const child = await create({ ttl: '5h' }, login.callerOf(parent));
    await login.db.query(
      `insert into login.tokens
         (hash, accessor, namespace_id, display_name, creation_path, policies, renewable, ttl_seconds, expires_at)
       select decode(md5(n::text), 'hex'), 'old' || n, 'root', '', '', '{}', false, 1, now() - interval '1 s'
       from generate_series(1, 1100) n`,
    );
    await expire(parent);
    const before = await login.epoch();
    expect(await sweepTokens(login)).toBe(1_102);
    expect(await login.epoch()).toBeGreaterThan(before);
    expect((await lookUp(child.body.auth.client_token)).status).toBe(404);
    expect(await sweepTokens(login)).toBe(0);
  });

  test('deletes tokens that are used up', async () => {
    const used = (await create({ policies: 'dev', num_uses: 1 })).body.auth.accessor;
    const unused = (await create({ policies: 'dev', num_uses: 2 })).body.auth.accessor;
    await login.db.query('update login.tokens set uses_left = uses_left - 1 where uses_left is not null');
    expect(await sweepTokens(login)).toBe(1);
    const left = await login.db.query('select accessor from login.tokens where accessor = any($1::text[])', [
      [used, unused],
    ]);
    expect(left).toEqual([{ accessor: unused }]);
  });
});
