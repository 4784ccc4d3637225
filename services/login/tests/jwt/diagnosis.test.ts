import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anonymous } from '../login-for-test.ts';
import { bindings, envelopes, forms, signatures } from './forged-tokens.ts';
import { audience, secondsNow, subject } from './issuer-for-test.ts';
import { useJwt } from './jwt-for-test.ts';

interface Shown {
  check: string;
  passed: boolean;
  reached?: false;
  claim: string;
  reason?: string;
  values: Record<string, unknown>;
}

const { jwt, login, issuer } = useJwt();

beforeEach(async () => {
  issuer.reset();
  await jwt.configure();
});
afterEach(() => issuer.reset());

async function diagnose(body: object, mount = 'jwt'): Promise<{ admitted: boolean; checks: Shown[] }> {
  const response = await login.call('POST', `/auth/${mount}/diagnose`, body);
  expect(response.status).toBe(200);
  return response.body.data;
}
const diagnoseWith = async (claims: Record<string, unknown>, role = 'web', over: object = {}) =>
  diagnose({ role, jwt: await issuer.sign(claims), ...over });
const failed = ({ checks }: { checks: Shown[] }) =>
  checks.filter(({ passed, reached }) => !passed && reached !== false);
const notReached = ({ checks }: { checks: Shown[] }) => checks.filter(({ reached }) => reached === false);
const reasons = (diagnosis: { checks: Shown[] }) => failed(diagnosis).map(({ reason }) => reason);

describe('a diagnosis', () => {
  test('names each check, the claim that it looked at and what the token says there', async () => {
    await jwt.writeRole('bound', { bound_claims: { '/actor/name': 'ada' }, groups_claim: 'realm.groups' });
    const { admitted, checks } = await diagnoseWith(
      { actor: { name: 'ada' }, realm: { groups: ['ops'] } },
      'bound',
    );
    expect(admitted).toBe(true);
    expect(checks).toContainEqual({
      check: 'the token is for one of bound_audiences',
      passed: true,
      claim: 'aud',
      values: { aud: audience },
    });
    expect(checks).toContainEqual(
      expect.objectContaining({ claim: '/actor/name', values: { '/actor/name': 'ada' } }),
    );
    expect(checks).toContainEqual(
      expect.objectContaining({ claim: 'realm.groups', values: { 'realm.groups': ['ops'] } }),
    );
    expect(checks).toContainEqual(
      expect.objectContaining({ claim: 'alg, kid', values: { alg: 'RS256', kid: issuer.kid } }),
    );
  });

  test('makes the checks that follow one that failed', async () => {
    const diagnosis = await diagnoseWith({ aud: 'x', sub: 'y', exp: secondsNow() - 120 });
    expect(diagnosis.admitted).toBe(false);
    expect(failed(diagnosis).map(({ claim }) => claim)).toEqual(['aud', 'exp, nbf, iat', 'exp', 'sub']);
    expect(reasons(diagnosis)).toContain("the token's sub is not the role's bound_subject");
  });

  test('says which checks it could not make', async () => {
    const malformed = await diagnose({ role: 'web', jwt: 'a.b.c' });
    expect(reasons(malformed)).toEqual([expect.stringMatching(/^jwt: /)]);
    expect(notReached(malformed).map(({ claim }) => claim)).toEqual(['alg, kid', 'jwt']);
    const timeless = await diagnoseWith({ exp: undefined });
    expect(notReached(timeless)).toEqual([
      expect.objectContaining({ claim: 'exp, nbf, iat', passed: false }),
    ]);
  });

  test('names a role or a configuration that does not exist', async () => {
    const missing = await diagnoseWith({}, 'none');
    expect(reasons(missing)).toEqual(['role: does not exist']);
    expect(notReached(missing)).toHaveLength(2);
    const token = await issuer.sign();
    expect(reasons(await diagnose({ jwt: token }))).toEqual([
      'role is required: the auth mount has no default_role',
    ]);
    await jwt.configure({ oidc_discovery_url: issuer.url, default_role: 'web' });
    expect((await diagnose({ jwt: token })).admitted).toBe(true);
    await login.call('POST', '/sys/auth/bare', { type: 'jwt' });
    expect(reasons(await diagnose({ role: 'web', jwt: token }, 'bare'))).toEqual([
      'this auth mount is not configured',
      'role: does not exist',
    ]);
  });

  test('checks an address only if there is one', async () => {
    await jwt.writeRole('near', { token_bound_cidrs: '10.0.0.0/8' });
    expect((await diagnoseWith({}, 'near')).admitted).toBe(true);
    const far = await diagnoseWith({}, 'near', { remote_address: '11.1.2.3' });
    expect(reasons(far)).toEqual([expect.stringContaining('token_bound_cidrs')]);
  });

  test('goes on if the directory fails', async () => {
    await jwt.configure({ oidc_discovery_url: issuer.url, skip_jwks_validation: true });
    issuer.serve({ keys: 'nonsense' });
    const diagnosis = await diagnoseWith({ sub: 'y' });
    expect(failed(diagnosis).map(({ claim }) => claim)).toEqual(['alg, kid', 'sub']);
  });

  test('says that the entity is disabled, as a login does', async () => {
    const { entity_id } = (await jwt.logInWith()).body.auth;
    await login.call('POST', `/identity/entity/id/${entity_id}`, { disabled: true });
    const { body } = await jwt.logInWith();
    expect(reasons(await diagnoseWith({}))).toEqual(body.errors);
    await login.call('POST', `/identity/entity/id/${entity_id}`, { disabled: false });
  });

  test('of an ID token is that of a sign-in, whose client the mount needs', async () => {
    const role = { role_type: 'oidc', allowed_redirect_uris: 'https://a.example/callback' };
    expect((await jwt.writeRole('people', role)).status).toBe(204);
    const idToken = { aud: 'client' };
    expect(reasons(await diagnoseWith(idToken, 'people'))).toEqual([
      'this auth mount has no oidc_client_id, which sign-in with a browser needs',
      "the token's aud is not what this mount accepts",
    ]);
    await jwt.configure({ oidc_discovery_url: issuer.url, oidc_client_id: 'client' });
    expect((await diagnoseWith(idToken, 'people')).admitted).toBe(true);
    expect((await diagnoseWith({}, 'people')).admitted).toBe(false);
  });
});

describe('of a role with jwt_once', () => {
  beforeEach(() => jwt.writeRole('once', { jwt_once: true }));
  const uses = () => login.db.query('select hash from login.used_jwts');

  test('a diagnosis uses nothing up, and says afterwards that the JWT was used', async () => {
    const token = await issuer.sign({ jti: `id-${Math.random()}` });
    const before = await uses();
    expect((await diagnose({ role: 'once', jwt: token })).admitted).toBe(true);
    expect((await diagnose({ role: 'once', jwt: token })).admitted).toBe(true);
    expect(await uses()).toEqual(before);
    expect((await jwt.logIn(token, 'once')).status).toBe(200);
    const { body } = await jwt.logIn(token, 'once');
    expect(reasons(await diagnose({ role: 'once', jwt: token }))).toEqual(body.errors);
  });

  test('a JWT without an ID is refused', async () => {
    const diagnosis = await diagnoseWith({}, 'once');
    expect(failed(diagnosis)).toEqual([expect.objectContaining({ claim: 'jti, uti' })]);
    expect(notReached(diagnosis)).toHaveLength(1);
  });
});

describe('agrees with a login:', () => {
  test.each([...signatures, ...forms, ...envelopes, ...bindings])('$title', async ({ role, token }) => {
    await login.call('DELETE', '/auth/jwt/role/row');
    await jwt.writeRole('row', role ?? {});
    const body = { role: 'row', jwt: await token(issuer) };
    const refused = await jwt.logIn(body.jwt, 'row');
    const response = await login.call('POST', '/auth/jwt/diagnose', body);
    if (response.status === 400) return expect(response.body.errors).toEqual(refused.body.errors);
    expect(response.body.data.admitted).toBe(false);
    return expect(reasons(response.body.data)).toContain(refused.body.errors[0]);
  });
});

test('agrees with a login whatever the claims are', async () => {
  await jwt.writeRole('any', {
    bound_claims: { environment: ['production', 7], 'a.b': true },
    bound_subject: '',
    groups_claim: 'groups',
    claim_mappings: { repository: 'repo' },
    max_age: '10m',
    jwt_once: true,
  });
  const value = fc.jsonValue({ maxDepth: 2 });
  const usually = (usual: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: value });
  const past = usually(fc.integer({ min: 0, max: 600 }).map((seconds) => secondsNow() - seconds));
  const claims = fc.record(
    {
      exp: usually(fc.integer({ min: -60, max: 600 }).map((seconds) => secondsNow() + seconds)),
      nbf: past,
      iat: past,
      auth_time: past,
      aud: usually(fc.constantFrom(audience, [audience, 'x'])),
      iss: usually(fc.constant(issuer.url)),
      sub: usually(fc.constantFrom('ann', 'eve')),
      jti: usually(fc.uuid()),
      repository: usually(fc.constant('acme/shop')),
      environment: usually(fc.constantFrom('production', 7, [7])),
      groups: usually(fc.constantFrom('ops', ['ops'])),
      _claim_names: value,
      'a.b': usually(fc.constant(true)),
      a: usually(fc.constant({})),
    },
    { requiredKeys: [] },
  );
  const outcomes = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(claims, async (drawn) => {
      const usual = { 'a.b': true, groups: ['ops'], jti: crypto.randomUUID() };
      const token = await issuer.sign({ ...usual, ...drawn });
      const diagnosis = await diagnose({ role: 'any', jwt: token });
      const { status, body } = await jwt.logIn(token, 'any');
      expect([status, diagnosis.admitted]).toEqual([
        diagnosis.admitted ? 200 : expect.any(Number),
        status === 200,
      ]);
      if (status !== 200) expect(reasons(diagnosis)).toContain(body.errors[0]);
      outcomes.add(diagnosis.admitted);
    }),
    { numRuns: 150, examples: [[{}], [{ iat: -1e12 }], [{ iat: -1e300 }]] },
  );
  expect(outcomes.size).toBe(2);
});

test('issues and logs nothing', async () => {
  const tokens = () => login.db.query('select hash from login.tokens order by hash');
  const before = await tokens();
  const token = await issuer.sign({ sub: 'canary-subject' });
  for (const jwtOf of [token, await issuer.sign()]) {
    const diagnosis = await diagnose({ role: 'web', jwt: jwtOf });
    for (const part of jwtOf.split('.').slice(1)) {
      expect(JSON.stringify(diagnosis)).not.toContain(part);
      expect(login.logged()).not.toContain(part);
    }
  }
  expect(await tokens()).toEqual(before);
  expect(login.logged()).not.toContain('canary-subject');
  expect(login.logged()).not.toContain(subject);
});

test('needs a token', async () => {
  const body = { role: 'web', jwt: 'x.y.z' };
  expect((await login.call('POST', '/auth/jwt/diagnose', body, anonymous)).status).toBe(403);
});
