import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TokenOptions } from '@secrets/sandbox';
import { sweepTokens } from '../../../src/tokens/sweep-tokens.ts';
import {
  anonymous,
  audience,
  type CloudBForTest,
  group,
  type LoginForTest,
  oid,
  startCloudBForTest,
} from '../../login-for-test.ts';

let cloudB: CloudBForTest;
let service: LoginForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
  service = cloudB.service;
});
afterAll(() => cloudB.stop());

describe('a login succeeds', () => {
  test.each<[string, Partial<TokenOptions>]>([
    ['with a v1 token', {}],
    ['with a v2 token', { version: 2 }],
    ['with the resource without its trailing slash', { audience: audience.slice(0, -1) }],
    ['with the principal in upper case', { oid: oid.toUpperCase() }],
    ['within the leeway after expiry', { expiresInSeconds: -1 }],
  ])('%s', async (_circumstance, options) => {
    const { status, body } = await cloudB.logInWith(options, 'WEB');
    expect(status).toBe(200);
    expect(body.auth).toMatchObject({
      client_token: expect.stringMatching(/^sst_/),
      policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata: { role: 'web' },
      token_type: 'service',
    });
  });

  test('with blanks around its token, which files and command lines add', async () => {
    const jwt = await cloudB.issueJwt({});
    expect((await cloudB.logIn({ role: 'web', jwt: ` ${jwt}\n` })).status).toBe(200);
  });

  test('with a batch token if the role says so', async () => {
    await cloudB.writeRole('batch', {
      bound_service_principal_ids: oid,
      token_type: 'batch',
      token_no_default_policy: true,
      policies: 'dev',
    });
    const { auth } = (await cloudB.logInWith({}, 'batch')).body;
    expect(auth).toMatchObject({
      client_token: expect.stringMatching(/^sbt_/),
      policies: ['dev'],
      renewable: false,
      accessor: '',
      token_type: 'batch',
    });
    expect(auth.entity_id).toBe((await cloudB.logInWith({})).body.auth.entity_id);
  });
});

test('a principal has one entity, even if its first logins are concurrent', async () => {
  await cloudB.writeRole('pair', { bound_group_ids: [group] });
  const logins = ['5', '5', '5', '6'].map((digit) =>
    cloudB.logInWith({ oid: oid.replaceAll('1', digit), groups: [group] }, 'pair'),
  );
  const entities = (await Promise.all(logins)).map(({ body }) => body.auth.entity_id);
  expect(new Set(entities.slice(0, 3)).size).toBe(1);
  expect(entities[3]).not.toBe(entities[0]);
});

test('only groups that the role binds are stored with a token', async () => {
  await cloudB.writeRole('grouped', { bound_group_ids: group.toUpperCase() });
  const { auth } = (await cloudB.logInWith({ groups: [group, oid] }, 'grouped')).body;
  const [stored] = await service.db.query<{ source: object }>(
    'select login_source as source from login.tokens where accessor = $1',
    [auth.accessor],
  );
  expect(stored!.source).toMatchObject({ groups: [group] });
});

test('disabling the mount revokes its tokens and deletes its entities', async () => {
  await service.call('POST', '/sys/auth/brief', { type: 'cloudB' });
  const config = { tenant_id: cloudB.sandbox.tenantId, resource: audience };
  await service.call('POST', '/auth/brief/config', config);
  await service.call('POST', '/auth/brief/role/r', { bound_service_principal_ids: oid });
  const request = { role: 'r', jwt: await cloudB.issueJwt() };
  const { auth } = (await service.call('POST', '/auth/brief/login', request, anonymous)).body;
  expect(await service.isAccepted(auth.client_token)).toBe(true);
  await service.call('DELETE', '/sys/auth/brief');
  expect(await service.isAccepted(auth.client_token)).toBe(false);
  await sweepTokens(service);
  const entities = await service.db.query('select 1 from login.entities where id = $1', [auth.entity_id]);
  expect(entities).toEqual([]);
  expect((await service.call('POST', '/auth/brief/login', request, anonymous)).status).toBe(404);
});

describe('a renewal', () => {
  const renew = async (role: string) => {
    const caller = service.callerOf(await cloudB.logInWith({}, role));
    return () => service.call('POST', '/auth/token/renew-self', {}, caller);
  };

  test('is refused while the role does not admit the claims of the login', async () => {
    await cloudB.writeRole('changing', { bound_service_principal_ids: oid });
    const renewed = await renew('changing');
    expect((await renewed()).status).toBe(200);
    await cloudB.writeRole('changing', { bound_service_principal_ids: group });
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(/bound_service_principal_ids/)] },
    });
    await cloudB.writeRole('changing', { bound_service_principal_ids: oid });
    expect((await renewed()).status).toBe(200);
  });

  test.each([
    ['tenant', { tenant_id: '99999999-dead-4bbb-8ccc-999999999999' }],
    ['resource', { resource: 'https://other.example/' }],
    ['environment', { environment: 'china' }],
  ])('is refused while the mount accepts tokens of another %s', async (_what, change) => {
    const renewed = await renew('web');
    await cloudB.configure(change);
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(/no longer accepts the tokens .* of this login/)] },
    });
    await cloudB.configure({ environment: 'public', resource: audience.slice(0, -1) });
    expect((await renewed()).status).toBe(200);
    await cloudB.configure();
  });

  test('is refused if the configuration was deleted', async () => {
    const renewed = await renew('web');
    await service.call('DELETE', '/auth/cloudB/config');
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: ['this auth mount is not configured'] },
    });
    await cloudB.configure();
    expect((await renewed()).status).toBe(200);
  });

  test('is refused from an address outside of the current token_bound_cidrs of the role', async () => {
    await cloudB.writeRole('moved', { bound_service_principal_ids: oid });
    const renewed = await renew('moved');
    await cloudB.writeRole('moved', { token_bound_cidrs: '203.0.113.0/24' });
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: ["the caller's address is not in the role's token_bound_cidrs"] },
    });
    await cloudB.writeRole('moved', { token_bound_cidrs: '127.0.0.0/8' });
    expect((await renewed()).status).toBe(200);
  });

  test.each([
    ['token_max_ttl', {}, { token_max_ttl: '2h' }],
    ['token_explicit_max_ttl', {}, { token_explicit_max_ttl: '2h' }],
    ['token_period', { token_period: '5h' }, { token_period: '2h' }],
    ['token_explicit_max_ttl', { token_period: '5h' }, { token_explicit_max_ttl: '2h' }],
    ['token_max_ttl', { token_period: '5h' }, { token_period: 0, token_max_ttl: '2h' }],
  ])('is bounded by the current %s of a role with %j', async (_field, before, after) => {
    const usual = { bound_service_principal_ids: oid, token_ttl: '1h', token_explicit_max_ttl: 0 };
    await cloudB.writeRole('lowered', { ...usual, token_max_ttl: 0, token_period: 0, ...before });
    const { client_token: token, accessor } = (await cloudB.logInWith({}, 'lowered')).body.auth;
    await service.db.query(
      "update login.tokens set expires_at = now() + interval '1 s' where accessor = $1",
      [accessor],
    );
    await cloudB.writeRole('lowered', after);
    const { body } = await service.call('POST', '/auth/token/renew', { token, increment: '5h' });
    expect(body.auth.lease_duration).toBeGreaterThan(7_000);
    expect(body.auth.lease_duration).toBeLessThanOrEqual(7_200);
    expect(body.warnings[0]).toMatch(/was shortened/);
  });

  test('is refused if the role was deleted', async () => {
    await cloudB.writeRole('deleted', { bound_service_principal_ids: oid });
    const renewed = await renew('deleted');
    await service.call('DELETE', '/auth/cloudB/role/deleted');
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: ['the role of this login no longer exists'] },
    });
  });
});

test('no part of a JWT or token reaches the log', async () => {
  const { auth } = (await cloudB.logInWith({})).body;
  await cloudB.logInWith({ wrongKey: true });
  await cloudB.logInWith({ oid: group });
  const logged = service.logged();
  expect(logged).toContain('directory token verified');
  expect(logged).toContain('login refused');
  const parts = cloudB.issuedJwts.flatMap((jwt) => jwt.split('.').slice(1)).filter((part) => part !== '');
  expect(parts.length).toBeGreaterThan(10);
  for (const part of parts) expect(logged).not.toContain(part);
  expect(logged).not.toContain(auth.client_token);
  expect(logged).not.toMatch(/s[sb]t_[A-Za-z0-9_-]{20}/);
});
