import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { exportJWK, SignJWT } from 'jose';
import { bindings, envelopes, type Forgery, forms, signatures } from './forged-tokens.ts';
import { usualClaims } from './issuer-for-test.ts';
import { useJwt } from './jwt-for-test.ts';

const { jwt, login, issuer } = useJwt();

/** Writes the role of a row, and tries its token. */
async function outcomeOf({ role, token }: Forgery) {
  if (role !== undefined && Object.keys(role).length > 0) {
    await login.call('DELETE', '/auth/jwt/role/row');
    expect((await jwt.writeRole('row', role)).status).toBe(204);
    return jwt.logIn(await token(issuer), 'row');
  }
  return jwt.logIn(await token(issuer));
}

describe.each([
  ['a signature', signatures],
  ['a form', forms],
  ['an envelope', envelopes],
  ['an identity', bindings],
])('a token with %s that is not accepted', (_what, rows) => {
  beforeAll(async () => {
    expect((await jwt.logIn(await issuer.sign())).status).toBe(200);
  });

  test.each(rows)('is refused: $title', async (row) => {
    const start = performance.now();
    const { status, body } = await outcomeOf(row);
    expect([status, body.errors]).toEqual([row.status, [expect.stringMatching(row.sentence)]]);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

test('refusals name no values of the role', async () => {
  await jwt.writeRole('values', {
    bound_subject: 'canary-sub',
    bound_claims: { repository: 'canary-claim' },
  });
  const bodies = [
    await jwt.logInWith({}, 'values'),
    await jwt.logInWith({ sub: 'canary-sub' }, 'values'),
    await jwt.logInWith({ aud: 'x' }, 'values'),
  ];
  expect(JSON.stringify(bodies.map(({ body }) => body.errors))).not.toMatch(/canary|secrets\.example/);
});

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

describe('a key', () => {
  const logInWithKey = async (key: KeyPair, over: object, alg = 'RS256') => {
    const published = {
      ...(key.publicKey.export({ format: 'jwk' }) as object),
      kid: 'own',
      use: 'sig',
      ...over,
    };
    issuer.serve({ keys: { keys: [published] } });
    await jwt.configure({ oidc_discovery_url: issuer.url, skip_jwks_validation: true });
    const token = await new SignJWT(usualClaims(issuer.url))
      .setProtectedHeader({ alg, kid: 'own' })
      .sign(key.privateKey)
      .catch(() => issuer.sign({}, { kid: 'own' }));
    return jwt.logIn(token);
  };
  const unusable = { status: 502, body: { errors: ["the directory's keys are not usable"] } };
  const strong = generateKeyPairSync('rsa', { modulusLength: 2_048 });

  test('of 2,048 bits is used, one of 1,024 bits is not', async () => {
    expect((await logInWithKey(strong, {})).status).toBe(200);
    expect(await logInWithKey(generateKeyPairSync('rsa', { modulusLength: 1_024 }), {})).toMatchObject(
      unusable,
    );
  });

  test.each([
    ['with the exponent 1', { e: 'AQ' }],
    ['with an even exponent', { e: 'Ag' }],
    ['without a modulus', { n: undefined }],
  ])('%s is not used', async (_what, over) => {
    expect((await logInWithKey(strong, over)).status).toBe(502);
  });

  test('for encryption, or of another algorithm, is not used', async () => {
    for (const over of [{ use: 'enc' }, { alg: 'RS512' }, { key_ops: ['encrypt'] }])
      expect((await logInWithKey(strong, over)).status).toBe(403);
  });

  test('whose secret is published is not used', async () => {
    const secret = strong.privateKey.export({ format: 'jwk' });
    expect((await logInWithKey(strong, secret)).status).toBe(502);
  });

  test('of another curve than the algorithm names is not used', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    issuer.serve({ keys: { keys: [{ ...(await exportJWK(publicKey)), kid: 'ec' }] } });
    await jwt.configure();
    const sign = (alg: string) =>
      new SignJWT(usualClaims(issuer.url)).setProtectedHeader({ alg, kid: 'ec' }).sign(privateKey);
    expect((await jwt.logIn(await sign('ES384'))).status).toBe(200);
    const [, payload, signature] = (await sign('ES384')).split('.');
    const head = Buffer.from('{"alg":"ES256","kid":"ec"}').toString('base64url');
    expect((await jwt.logIn(`${head}.${payload}.${signature}`)).status).toBe(403);
  });

  test('of another mount does not verify', async () => {
    issuer.reset();
    await jwt.configure();
    const pem = String(strong.publicKey.export({ type: 'spki', format: 'pem' }));
    await login.call('POST', '/sys/auth/second', { type: 'jwt' });
    await jwt.configure({ jwt_validation_pubkeys: pem, bound_issuer: issuer.url }, 'second');
    await jwt.writeRole('web', {}, 'second');
    const token = await new SignJWT(usualClaims(issuer.url))
      .setProtectedHeader({ alg: 'RS256' })
      .sign(strong.privateKey);
    const at = (mount: string, text: string) =>
      login.call('POST', `/auth/${mount}/login`, { role: 'web', jwt: text });
    expect((await at('second', token)).status).toBe(200);
    expect((await at('jwt', token)).status).toBe(403);
    expect((await at('second', await issuer.sign())).status).toBe(403);
  });

  test('that was withdrawn no longer verifies after a write of the configuration', async () => {
    await jwt.configure();
    const token = await issuer.sign();
    expect((await jwt.logIn(token)).status).toBe(200);
    issuer.serve({ keys: { keys: [{ ...issuer.jwk, kid: 'next' }] } });
    await jwt.configure();
    expect((await jwt.logIn(token)).status).toBe(403);
  });
});
