import { beforeEach, describe, expect, test } from '@jest/globals';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { anonymous } from '../login-for-test.ts';
import { audience, secondsNow, subject, usualClaims } from './issuer-for-test.ts';
import { useJwt } from './jwt-for-test.ts';

const { jwt, login, issuer } = useJwt();

beforeEach(async () => {
  issuer.reset();
  expect((await jwt.configure()).status).toBe(204);
});

describe('a login', () => {
  test('returns a token with the policies and limits of the role, and an entity', async () => {
    const { status, body } = await jwt.logInWith();
    expect(status).toBe(200);
    expect(body.auth).toMatchObject({
      token_policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata: { role: 'web' },
      token_type: 'service',
    });
    expect((await jwt.logInWith()).body.auth.entity_id).toBe(body.auth.entity_id);
    expect(await login.isAccepted(body.auth.client_token)).toBe(true);
    const { data } = (
      await login.call('POST', '/auth/token/lookup-accessor', { accessor: body.auth.accessor })
    ).body;
    expect(data).toMatchObject({ path: 'auth/jwt/login', display_name: `jwt-${subject}` });
  });

  test('without a role is through the default role, if there is one', async () => {
    const token = await issuer.sign();
    const without = () => login.call('POST', '/auth/jwt/login', { jwt: token }, anonymous);
    expect((await without()).body.errors).toEqual(['role is required: the auth mount has no default_role']);
    await jwt.configure({ oidc_discovery_url: issuer.url, default_role: 'WEB' });
    expect((await without()).body.auth.metadata).toEqual({ role: 'web' });
    expect((await jwt.logIn(token, '')).status).toBe(200);
    await jwt.configure({ oidc_discovery_url: issuer.url, default_role: 'none' });
    expect((await without()).body.errors).toEqual(['role: does not exist']);
  });

  test('is refused without what it needs', async () => {
    const bodies = [
      [{ role: 'web' }, 'jwt is required'],
      [{ role: 'none', jwt: await issuer.sign() }, 'role: does not exist'],
      [{ role: 'web', jwt: 'a.b' }, 'jwt: is not a signed token'],
    ] as const;
    for (const [body, sentence] of bodies) {
      const { status, body: answer } = await login.call('POST', '/auth/jwt/login', body, anonymous);
      expect([status, answer.errors]).toEqual([400, [sentence]]);
    }
  });

  test('names the groups that it belongs to, and the metadata that the role maps', async () => {
    const { data } = (await login.call('GET', '/sys/auth/jwt')).body;
    const { body } = await login.call('POST', '/identity/group', {
      name: 'deployers',
      type: 'external',
      policies: ['deploy'],
    });
    const alias = { name: 'ops', mount_accessor: data.accessor, canonical_id: body.data.id };
    expect((await login.call('POST', '/identity/group-alias', alias)).status).toBe(200);
    const mapped = { repository: 'repo', '/actor/name': 'actor', missing: 'none' };
    await jwt.writeRole('groups', { groups_claim: 'realm.groups', claim_mappings: mapped });
    const claims = { realm: { groups: ['ops', 'unknown', ''] }, actor: { name: 'ada' } };
    const { auth } = (await jwt.logInWith(claims, 'groups')).body;
    expect(auth.identity_policies).toEqual(['deploy']);
    expect(auth.metadata).toEqual({ role: 'groups', repo: 'acme/shop', actor: 'ada' });
    const fewer = (await jwt.logInWith({ realm: { groups: 'unknown' } }, 'groups')).body;
    expect(fewer.auth.identity_policies).toEqual([]);
  });

  test('is possible with a batch token', async () => {
    await jwt.writeRole('batch', { token_type: 'batch' });
    const { auth } = (await jwt.logInWith({}, 'batch')).body;
    expect(auth).toMatchObject({ token_type: 'batch', renewable: false });
    expect(await login.isAccepted(auth.client_token)).toBe(true);
  });

  test('logs nothing of the token but its ID and that of its key', async () => {
    await jwt.logInWith({ jti: 'id-1', sub: 'canary-subject' });
    expect(login.logged()).toContain('id-1');
    expect(login.logged()).not.toContain('canary-subject');
  });
});

describe('the keys', () => {
  test('are those of the key set, if it is configured', async () => {
    await jwt.configure({ jwks_url: `${issuer.url}/keys`, bound_issuer: issuer.url });
    expect((await jwt.logInWith()).status).toBe(200);
    expect((await jwt.logInWith({ iss: 'https://other.example' })).status).toBe(403);
  });

  test.each(['RS256', 'RS512', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    'are those of the configuration, for signatures with %s',
    async (alg) => {
      const own = await generateKeyPair(alg, { extractable: true });
      const other = await generateKeyPair(alg, { extractable: true });
      const ownPem = await exportSPKI(own.publicKey);
      const otherPem = await exportSPKI(other.publicKey);
      const sign = (key: typeof own.privateKey) =>
        new SignJWT(usualClaims('https://any.example')).setProtectedHeader({ alg }).sign(key);
      const configured = await jwt.configure({ jwt_validation_pubkeys: [otherPem, ownPem] });
      expect(configured.body.warnings).toEqual([expect.stringMatching(/^bound_issuer is not set/)]);
      expect((await jwt.logIn(await sign(own.privateKey))).status).toBe(200);
      expect((await jwt.logIn(await sign(other.privateKey))).status).toBe(200);
      await jwt.configure({ jwt_validation_pubkeys: ownPem });
      expect((await jwt.logIn(await sign(own.privateKey))).status).toBe(200);
      expect((await jwt.logIn(await sign(other.privateKey))).body.errors).toEqual([
        "the token's signature is not valid",
      ]);
      await jwt.configure({
        jwt_validation_pubkeys: ownPem,
        jwt_supported_algs: alg === 'RS384' ? 'RS256' : 'RS384',
      });
      expect((await jwt.logIn(await sign(own.privateKey))).body.errors).toEqual([
        "the token's algorithm is not accepted",
      ]);
    },
  );

  test('that are cached are used while the issuer is down; without them, a login fails with 503', async () => {
    expect((await jwt.logInWith()).status).toBe(200);
    issuer.serve({ discovery: serverError, keys: serverError });
    expect((await jwt.logInWith()).status).toBe(200);
    await jwt.configure({ oidc_discovery_url: issuer.url, skip_jwks_validation: true });
    expect((await jwt.logInWith()).status).toBe(503);
  });

  test('are fetched once for many logins', async () => {
    const before = issuer.requests();
    const token = await issuer.sign();
    await Promise.all(Array.from({ length: 20 }, () => jwt.logIn(token)));
    expect(issuer.requests() - before).toBe(2);
  });
});

const serverError = (_request: unknown, response: { writeHead(status: number): { end(): void } }) =>
  response.writeHead(503).end();

describe('the times of a token', () => {
  test.each([
    ['exp', -50, {}, 200],
    ['exp', -70, {}, 403],
    ['exp', -70, { expiration_leeway: 100 }, 200],
    ['exp', -130, { expiration_leeway: 100 }, 403],
    ['exp', -5, { clock_skew_leeway: -1 }, 403],
    ['exp', -5, { expiration_leeway: -1 }, 403],
    ['nbf', 50, {}, 200],
    ['nbf', 70, {}, 403],
    ['nbf', 70, { not_before_leeway: '2m' }, 200],
    ['nbf', 70, { clock_skew_leeway: 90 }, 200],
    ['iat', 50, {}, 200],
    ['iat', 70, {}, 403],
    ['iat', -500, { max_age: 600 }, 200],
    ['iat', -700, { max_age: 600 }, 403],
    ['auth_time', -700, { max_age: 600 }, 403],
    ['auth_time', 100, { max_age: 600 }, 403],
    ['auth_time', '1', { max_age: 600 }, 403],
  ])('%s of %j seconds from now, with %j: %i', async (claim, seconds, over, status) => {
    await login.call('DELETE', '/auth/jwt/role/times');
    await jwt.writeRole('times', over);
    const value = typeof seconds === 'string' ? seconds : secondsNow() + seconds;
    expect((await jwt.logInWith({ [claim]: value }, 'times')).status).toBe(status);
  });
});

describe('a role with jwt_once', () => {
  const once = {
    status: 403,
    body: { errors: ['the token has logged in before, and the role has jwt_once'] },
  };
  beforeEach(() => jwt.writeRole('once', { jwt_once: true }));

  test.each(['jti', 'uti'])(
    'admits a token of one %s once, also of logins at the same time',
    async (claim) => {
      const token = await issuer.sign({ [claim]: `${claim}-1` });
      const statuses = await Promise.all(
        Array.from({ length: 8 }, async () => (await jwt.logIn(token, 'once')).status),
      );
      expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(403)]);
      expect(await jwt.logIn(token, 'once')).toMatchObject(once);
      expect((await jwt.logInWith({ [claim]: `${claim}-2` }, 'once')).status).toBe(200);
      expect(login.logged()).toContain('a JWT was used again');
    },
  );

  test('refuses a token without an ID, and keeps no record of one that it does not admit', async () => {
    expect((await jwt.logInWith({}, 'once')).body.errors[0]).toMatch(/neither jti nor uti/);
    expect((await jwt.logInWith({ jti: 'x', sub: 'other' }, 'once')).status).toBe(403);
    expect((await jwt.logInWith({ jti: 'x' }, 'once')).status).toBe(200);
  });

  test('keeps the record as long as the token is valid, with every leeway', async () => {
    await jwt.logInWith({ jti: 'kept', exp: secondsNow() + 600 }, 'once');
    const [row] = await login.db.query<{ seconds: number }>(
      'select extract(epoch from max(expires_at) - now())::integer as seconds from login.used_jwts',
    );
    expect(row!.seconds).toBeGreaterThan(4_100);
    expect(row!.seconds).toBeLessThanOrEqual(4_200);
  });

  test('does not concern other roles', async () => {
    const token = await issuer.sign({ jti: 'other' });
    expect([(await jwt.logIn(token)).status, (await jwt.logIn(token)).status]).toEqual([200, 200]);
  });
});

describe('a renewal', () => {
  const claims = { repository: ['acme/shop', 'acme/docs'], aud: [audience, 'other'] };
  const renew = (caller: ReturnType<typeof login.callerOf>) =>
    login.call('POST', '/auth/token/renew-self', {}, caller);
  const role = { bound_claims: { repository: ['acme/shop', 'acme/docs'] } };
  const loggedIn = async () => {
    await jwt.writeRole('renewed', role);
    return login.callerOf(await jwt.logInWith(claims, 'renewed'));
  };

  test('succeeds if the role still admits what the login proved', async () => {
    const caller = await loggedIn();
    expect((await renew(caller)).status).toBe(200);
    await jwt.writeRole('renewed', { bound_claims: { repository: ['acme/docs', 'another'] } });
    expect((await renew(caller)).status).toBe(200);
  });

  test.each([
    [{ bound_claims: { repository: 'another' } }, /repository is not among/],
    [{ bound_claims: { ...role.bound_claims, environment: 'production' } }, /only a new login can prove/],
    [{ bound_subject: 'another' }, /sub is not the role's bound_subject/],
    [{ bound_audiences: 'other-than-that' }, /audience of this login/],
    [{ bound_audiences: 'other' }, /audience of this login/],
    [{ token_bound_cidrs: '10.9.8.7' }, /token_bound_cidrs/],
  ])('is refused once the role has %j', async (change, reason) => {
    const caller = await loggedIn();
    await jwt.writeRole('renewed', { ...role, ...change });
    expect(await renew(caller)).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(reason)] },
    });
    await jwt.writeRole('renewed', { ...role, bound_subject: subject, token_bound_cidrs: '' });
  });

  test('is refused once the role is gone, or the mount trusts another issuer', async () => {
    const caller = await loggedIn();
    await jwt.configure({ jwks_url: `${issuer.url}/keys` });
    expect((await renew(caller)).body.errors[0]).toMatch(/no longer accepts the tokens of the issuer/);
    await jwt.configure({ oidc_discovery_url: issuer.url, bound_issuer: 'https://other.example' });
    expect((await renew(caller)).body.errors[0]).toMatch(/no longer accepts the tokens of the issuer/);
    await jwt.configure();
    expect((await renew(caller)).status).toBe(200);
    await login.call('DELETE', '/auth/jwt/role/renewed');
    expect((await renew(caller)).body.errors).toEqual(['the role of this login no longer exists']);
  });

  test('is refused once the key that signed the token is removed from the configuration', async () => {
    const other = await generateKeyPair('RS256', { extractable: true });
    const [ownPem, otherPem] = await Promise.all(
      [issuer.keys, other].map(({ publicKey }) => exportSPKI(publicKey)),
    );
    await jwt.configure({ jwt_validation_pubkeys: ownPem });
    const caller = await loggedIn();
    await jwt.configure({ jwt_validation_pubkeys: [otherPem, ownPem] });
    expect((await renew(caller)).status).toBe(200);
    await jwt.configure({ jwt_validation_pubkeys: otherPem });
    expect(await renew(caller)).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(/no longer among jwt_validation_pubkeys/)] },
    });
    await jwt.configure();
  });
});
