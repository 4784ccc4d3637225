import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { TokenOptions } from '@secrets/sandbox';
import {
  anonymous,
  audience,
  type CloudBForTest,
  group,
  oid,
  startCloudBForTest,
} from '../../login-for-test.ts';

const nowSeconds = () => Math.floor(Date.now() / 1000);
let cloudB: CloudBForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
});
afterEach(() => cloudB.sandbox.directory.faults.clear());
afterAll(() => cloudB.stop());

describe('a login is refused with 403 for', () => {
  test.each<[string, Partial<TokenOptions>, RegExp]>([
    ['another audience', { audience: 'https://other.example/' }, /aud/],
    ['a longer audience', { audience: `${audience}x` }, /aud/],
    ['another issuer', { overrides: { iss: 'https://sts.windows.net/other/' } }, /iss/],
    ['another tenant', { overrides: { tid: '00000000-0000-4000-8000-000000000000' } }, /tid/],
    ['no tenant', { overrides: { tid: null } }, /tid is missing/],
    ['no principal', { overrides: { oid: null } }, /oid is missing/],
    ['a principal that is not a string', { overrides: { oid: 7 } }, /oid/],
    ['a key that was never published', { wrongKey: true }, /signature/],
    ['no signature', { algorithm: 'none' }, /algorithm/],
    ['the public key as an HMAC secret', { algorithm: 'HS256' }, /algorithm/],
    ['another algorithm of the same key', { algorithm: 'RS512' }, /algorithm/],
    ['PSS with the same key', { algorithm: 'PS256' }, /algorithm/],
    ['an unknown key', { kid: 'unknown' }, /key/],
    ['an expired token', { expiresInSeconds: -61 }, /expired/],
    ['a token without expiry', { overrides: { exp: null } }, /exp is missing/],
    ['a token that is not valid yet', { notBefore: nowSeconds() + 86_400 }, /not valid yet/],
    ['another principal', { oid: '99999999-aaaa-4bbb-8ccc-222222222222' }, /bound_service_principal_ids/],
    ['groups that are not a list', { overrides: { groups: 'x' } }, /groups/],
  ])('%s', async (_cause, options, sentence) => {
    const { status, body } = await cloudB.logInWith(options);
    expect(body.errors[0]).toMatch(sentence);
    expect(status).toBe(403);
  });

  test('an address outside of the role', async () => {
    await cloudB.writeRole('near', { bound_service_principal_ids: [oid], token_bound_cidrs: '10.0.0.0/8' });
    const outside = await cloudB.logInWith({}, 'near');
    expect([outside.status, outside.body.errors]).toEqual([
      403,
      ["the caller's address is not in the role's token_bound_cidrs"],
    ]);
    const inside = { ...anonymous, remoteAddress: '10.1.2.3' };
    expect((await cloudB.logIn({ role: 'near', jwt: await cloudB.issueJwt() }, inside)).status).toBe(200);
  });

  test('groups that do not match, or that the token omits', async () => {
    await cloudB.writeRole('grouped', { bound_group_ids: [group.toUpperCase()] });
    const omitted = await cloudB.logInWith({ groupOverage: true }, 'grouped');
    expect(omitted.body.errors[0]).toMatch(/too many/);
    const others = await cloudB.logInWith({ groups: [oid] }, 'grouped');
    expect(others.body.errors[0]).toMatch(/bound_group_ids/);
    expect((await cloudB.logInWith({ groups: [oid, group] }, 'grouped')).status).toBe(200);
  });

  test("a token older than the role's max_token_age", async () => {
    await cloudB.writeRole('fresh', { bound_service_principal_ids: [oid], max_token_age: '2m' });
    expect((await cloudB.logInWith({}, 'fresh')).body.errors[0]).toMatch(/max_token_age/);
    expect((await cloudB.logInWith({ notBefore: nowSeconds() }, 'fresh')).status).toBe(200);
  });
});

describe('a login is refused with 400 for', () => {
  test.each<[string, object, RegExp]>([
    ['no role', { jwt: 'x' }, /role is required/],
    ['no JWT', { role: 'web' }, /jwt is required/],
    ['an unknown role', { role: 'unknown', jwt: 'x' }, /role: does not exist/],
    ['a JWT of one part', { role: 'web', jwt: 'x' }, /jwt/],
    ['a JWT of three meaningless parts', { role: 'web', jwt: 'a.b.c' }, /jwt/],
    [
      'a JWT whose header is nested deeply',
      { role: 'web', jwt: `${Buffer.from('['.repeat(40_000)).toString('base64url')}.b.c` },
      /^jwt: is nested deeper than 16 levels$/,
    ],
    ['a JWT over 64 KiB', { role: 'web', jwt: `${'a'.repeat(70_000)}.b.c` }, /64 KiB/],
    ['an invalid machine name', { role: 'web', jwt: 'a.b.c', vm_name: '../x' }, /vm_name/],
  ])('%s', async (_cause, request, sentence) => {
    const { status, body } = await cloudB.logIn(request);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(sentence);
  });

  test('a mount without configuration', async () => {
    await cloudB.service.call('POST', '/sys/auth/bare', { type: 'cloudB' });
    const request = { role: 'web', jwt: 'x' };
    const { status, body } = await cloudB.service.call('POST', '/auth/bare/login', request, anonymous);
    expect([status, body.errors]).toEqual([400, ['this auth mount is not configured']]);
  });
});

test('a login at a path without an auth mount is not found', async () => {
  const { service } = cloudB;
  const { status, body } = await service.call('POST', '/auth/nowhere/login', { role: 'web', jwt: 'x' });
  expect([status, body.errors]).toEqual([404, ['no auth method is mounted at nowhere/']]);
});

test('unknown fields of a login are named in warnings', async () => {
  const { body } = await cloudB.logIn({ role: 'web', jwt: await cloudB.issueJwt(), password: 'x' });
  expect(body.warnings).toEqual(['unknown field password was ignored']);
});

test('a condition of a login that is unknown is refused before a token is issued', async () => {
  const count = () => cloudB.service.db.query('select 1 from login.tokens').then((rows) => rows.length);
  const before = await count();
  const refused = await cloudB.logIn({ role: 'web', jwt: await cloudB.issueJwt(), ttl: '1m' });
  expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringMatching(/^ttl: /)]);
  expect(await count()).toBe(before);
});

describe('a role that binds machines', () => {
  beforeAll(() =>
    cloudB.writeRole('machine', { bound_service_principal_ids: [oid], bound_resource_groups: 'rg' }),
  );

  test('needs a machine in the request', async () => {
    const { status, body } = await cloudB.logInWith({}, 'machine');
    expect([status, body.errors]).toEqual([400, ['subscription_id is required for this role']]);
  });

  test('refuses another principal first', async () => {
    expect((await cloudB.logInWith({ oid: group }, 'machine')).status).toBe(403);
  });
});
