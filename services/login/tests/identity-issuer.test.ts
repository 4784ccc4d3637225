import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceCaller, signAssertion } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { decrypt } from '@secrets/seal';
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import { issueIdentityToken } from '../src/issuer/issue-identity-token.ts';
import { rotateDueKeys } from '../src/issuer/rotate-keys.ts';
import { anonymous, type LoginForTest, startLoginForTest } from './login-for-test.ts';

const base = 'https://secrets.example.com';
const issuer = `${base}/v1/identity/oidc/plugins`;
const config = '/identity/oidc/config';
const documents = '/identity/oidc/plugins/.well-known';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

const request = { subject: 'secrets-sync:root:cloudB-kv:main', audience: 'api://exchange', ttlSeconds: 600 };
const issue = async () => (await issueIdentityToken(login, request)).token;
const publishedKeys = async (): Promise<JWK[]> =>
  (await login.call('GET', `${documents}/keys`, undefined, anonymous)).body.keys;
const verify = async (token: string) =>
  jwtVerify(token, createLocalJWKSet({ keys: await publishedKeys() }), {
    issuer,
    audience: request.audience,
    subject: request.subject,
    algorithms: ['RS256'],
  });

describe('until an issuer is configured', () => {
  test('there are no documents and no tokens, and the error says what to do', async () => {
    for (const path of [config, `${documents}/keys`, `${documents}/openid-configuration`]) {
      const { status, body } = await login.call('GET', path);
      expect([status, body.errors]).toEqual([
        404,
        [expect.stringMatching(/set issuer in identity\/oidc\/config/)],
      ]);
    }
    expect((await login.call('POST', '/identity/oidc/rotate')).status).toBe(404);
    await expect(issue()).rejects.toThrow(/not configured/);
    await rotateDueKeys(login);
    expect(await login.db.query('select 1 from login.identity_keys')).toEqual([]);
  });

  test('a configuration requires it', async () => {
    const { status, body } = await login.call('POST', config, { rotation_period: '2h' });
    expect([status, body.errors]).toEqual([400, ['issuer: is required']]);
  });
});

describe('the issuer', () => {
  test('is the public base URL, and omitted fields keep their values', async () => {
    const created = await login.call('POST', config, { issuer: `${base}/`, rotation_period: '12h' });
    const expected = {
      issuer: base,
      rotation_period: 43_200,
      verification_ttl: 86_400,
      token_issuer: issuer,
    };
    expect([created.status, created.body.data, created.body.warnings]).toEqual([200, expected, null]);
    const updated = await login.call('POST', config, { verification_ttl: '48h' });
    expect(updated.body.data).toEqual({ ...expected, verification_ttl: 172_800 });
    expect((await login.call('GET', config)).body.data).toEqual(updated.body.data);
  });

  test.each([
    [{ issuer: 'secrets.example.com' }, /^issuer: must be an http or https URL/],
    [{ issuer: 'https://user:pass@secrets.example.com' }, /^issuer: must be/],
    [{ issuer: 'https://secrets.example.com/?a' }, /^issuer: must be/],
    [{ issuer: 'ftp://secrets.example.com' }, /^issuer: must be/],
    [{ rotation_period: '59m' }, /^rotation_period: must be between 1h and 365d/],
    [{ verification_ttl: '23h' }, /^verification_ttl: must be between 24h and 365d/],
  ])('refuses %j', async (body, sentence) => {
    const { status, body: answer } = await login.call('POST', config, body);
    expect([status, answer.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
  });

  test('may be http, with a warning', async () => {
    const { body } = await login.call('POST', config, { issuer: 'http://127.0.0.1:8200' });
    expect(body.warnings).toEqual([expect.stringMatching(/not https/)]);
    await login.call('POST', config, { issuer: base });
  });

  test('is configured only in the root and the administrative namespace', async () => {
    const elsewhere = testCaller({ namespace: { id: 'team', path: 'team' } });
    for (const [method, path] of [
      ['GET', config],
      ['POST', config],
      ['POST', '/identity/oidc/rotate'],
    ] as const)
      expect((await login.call(method, path, method === 'GET' ? undefined : {}, elsewhere)).status).toBe(404);
  });

  test('needs update once it exists', async () => {
    const creator = testCaller({ policies: ['x'], grants: ['create'] });
    expect((await login.call('POST', config, {}, creator)).status).toBe(403);
  });

  test('publishes its documents without a token, as they are, and they may be cached', async () => {
    const discovery = await login.call('GET', `${documents}/openid-configuration`, undefined, anonymous);
    expect(discovery.body).toEqual({
      issuer,
      jwks_uri: `${issuer}/.well-known/keys`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
    expect(discovery.headers.get('cache-control')).toBe('public, max-age=600');
    const keys = await login.call('GET', `${documents}/keys`, undefined, anonymous);
    expect(keys.headers.get('cache-control')).toBe('public, max-age=600');
    for (const key of keys.body.keys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });
});

/** Makes the keys of a state older. */
const age = (state: string, column: string, interval: string) =>
  login.db.query(`update login.identity_keys set ${column} = ${column} - $1::interval where state = $2`, [
    interval,
    state,
  ]);
const rotateManually = async () => {
  await age('next', 'state_since', '11 minutes');
  return login.call('POST', '/identity/oidc/rotate');
};

describe('identity tokens', () => {
  test('have issuer, subject, audience, ID and the requested lifetime, and the published keys verify them', async () => {
    const token = await issue();
    const { payload, protectedHeader } = await verify(token);
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: issuer,
      sub: request.subject,
      aud: request.audience,
      iat: expect.any(Number),
      exp: payload.iat! + 600,
      jti: expect.any(String),
    });
    expect(Math.abs(payload.iat! - Date.now() / 1000)).toBeLessThan(60);
    expect((await verify(await issue())).payload.jti).not.toBe(payload.jti);
  });

  test('private keys are sealed for their row, and the key of another row does not open', async () => {
    const rows = await login.db.query<{ id: string; state: string; key: Uint8Array }>(
      'select id, state, sealed_private_key as key from login.identity_keys order by state',
    );
    const [current, next] = rows;
    expect(rows.map(({ state }) => state)).toEqual(['current', 'next']);
    expect(Buffer.from(current!.key).toString('latin1')).not.toContain('PRIVATE KEY');
    const aad = `login.identity_keys ${current!.id} private_key`;
    expect(decrypt(login.keyRing, aad, current!.key).toString()).toContain('PRIVATE KEY');
    expect(() => decrypt(login.keyRing, aad, next!.key)).toThrow(/belong to another row/);
  });

  test('the next key is published before it signs', async () => {
    const keys = (await publishedKeys()).map(({ kid }) => kid);
    const { kid } = decodeProtectedHeader(await issue());
    const next = keys.find((key) => key !== kid);
    expect((await rotateManually()).status).toBe(204);
    expect(decodeProtectedHeader(await issue()).kid).toBe(next);
  });
});

describe('a rotation', () => {
  const states = async () =>
    (
      await login.db.query<{ state: string }>(
        'select state from login.identity_keys order by state, state_since',
      )
    ).map(({ state }) => state);
  test('keeps the key published until its last token has expired, without its private part', async () => {
    const token = await issue();
    await rotateManually();
    await verify(token);
    expect(
      await login.db.query(
        "select 1 from login.identity_keys where state = 'retired' and sealed_private_key is not null",
      ),
    ).toEqual([]);
    await age('retired', 'published_until', '48 hours');
    await rotateDueKeys(login);
    await verify(token);
    await age('retired', 'published_until', '6 minutes');
    await expect(verify(token)).rejects.toThrow(/no applicable key/);
    await rotateDueKeys(login);
    expect(await states()).toEqual(['current', 'next']);
  });

  test('happens when the period is over, and once if several processes notice', async () => {
    const { kid } = decodeProtectedHeader(await issue());
    await rotateDueKeys(login);
    expect(decodeProtectedHeader(await issue()).kid).toBe(kid);
    await age('current', 'state_since', '12 hours');
    await Promise.all([1, 2, 3].map(() => rotateDueKeys(login)));
    expect(await states()).toEqual(['current', 'next', 'retired']);
    expect(decodeProtectedHeader(await issue()).kid).not.toBe(kid);
  });

  test('is refused while copies of the documents may lack the next key, and says for how long', async () => {
    expect((await rotateManually()).status).toBe(204);
    const { kid } = decodeProtectedHeader(await issue());
    await age('next', 'state_since', '5 minutes');
    const { status, body, headers } = await login.call('POST', '/identity/oidc/rotate');
    expect([status, body.errors]).toEqual([
      409,
      [expect.stringMatching(/^those who verify tokens may not know the next key yet; try again in \d+ s$/)],
    ]);
    expect(Math.abs(Number(headers.get('retry-after')) - 360)).toBeLessThan(10);
    expect(decodeProtectedHeader(await issue()).kid).toBe(kid);
    await age('next', 'state_since', '6 minutes');
    expect((await login.call('POST', '/identity/oidc/rotate')).status).toBe(204);
  });

  test('on request happens once if several are made at once', async () => {
    await age('next', 'state_since', '11 minutes');
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await login.call('POST', '/identity/oidc/rotate')).status),
    );
    expect(statuses.sort()).toEqual([204, 409, 409]);
  });

  test('needs nothing to be configured again: two first writes at once create one pair of keys', async () => {
    await login.db.query('delete from login.identity_keys');
    await login.db.query('delete from login.identity_issuer');
    const written = await Promise.all([1, 2].map(() => login.call('POST', config, { issuer: base })));
    expect(written.map(({ status }) => status)).toEqual([200, 200]);
    expect(await states()).toEqual(['current', 'next']);
  });
});

describe('a worker', () => {
  const path = (type: string) => `/internal/identity-tokens/${type}`;
  const body = { namespace_path: 'team/a', name: 'main', audience: 'api://exchange', ttl_seconds: 600 };
  const ask = async (worker: string, target: string, over: object = {}, method = 'POST') => {
    const caller = serviceCaller(worker, 'r');
    const sent = method === 'GET' ? {} : { body: JSON.stringify({ ...body, ...over }) };
    const asserted = { from: worker, to: 'login', method, path: `/v1${target}`, ...sent };
    const response = await fetch(`${login.url}/v1${target}`, {
      method,
      headers: {
        'x-caller-assertion': signAssertion(login.keys, asserted, caller),
        'content-type': 'application/json',
      },
      ...sent,
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of the response
    return { status: response.status, body: (await response.json()) as any };
  };
  const subjectOf = async (response: { body: { data: { token: string } } }) =>
    (await jwtVerify(response.body.data.token, createLocalJWKSet({ keys: await publishedKeys() }))).payload
      .sub;

  test('gets a token whose subject login composes of namespace, type and name', async () => {
    const issued = await ask('sync-worker-cloudb-kv', path('cloudB-kv'));
    expect(await subjectOf(issued)).toBe('secrets-sync:team/a:cloudB-kv:main');
    const inRoot = await ask('sync-worker-clouda-sm', path('cloudA-sm'), { namespace_path: '' });
    expect(await subjectOf(inRoot)).toBe('secrets-sync:root:cloudA-sm:main');
    expect(login.logged()).toContain('secrets-sync:team/a:cloudB-kv:main');
    expect(login.logged()).not.toContain(issued.body.data.token);
  });

  test('gets none for another type, and no other request is accepted from it', async () => {
    expect((await ask('sync-worker-cloudb-kv', path('cloudA-sm'))).status).toBe(403);
    expect((await ask('sync-worker-codehost', path('cloudA-sm'))).status).toBe(403);
    expect((await ask('sync-worker-cloudb-kv', path('codehost'))).status).toBe(404);
    expect((await ask('sync-worker-cloudb-kv', '/auth/token/create')).status).toBe(403);
    expect((await ask('sync-worker-cloudb-kv', config, {}, 'GET')).status).toBe(403);
  });

  test.each([
    ['a name that contains a colon', { name: 'a:cloudB-kv:b' }],
    ['a namespace that contains a colon', { namespace_path: 'a:cloudA-sm:b' }],
    ['no audience', { audience: '' }],
    ['a long audience', { audience: 'a'.repeat(600) }],
    ['a lifetime of more than a day', { ttl_seconds: 86_401 }],
    ['a lifetime of less than a minute', { ttl_seconds: 59 }],
  ])('gets none for %s', async (_title, over) => {
    expect((await ask('sync-worker-cloudb-kv', path('cloudB-kv'), over)).status).toBe(400);
  });

  test('cannot choose the subject', async () => {
    const over = { subject: 'plugin-identity:root:auth:accessor', type: 'cloudA-sm' };
    const issued = await ask('sync-worker-cloudb-kv', path('cloudB-kv'), over);
    expect(await subjectOf(issued)).toBe('secrets-sync:team/a:cloudB-kv:main');
  });

  test('the gateway cannot request tokens on behalf of a client', async () => {
    expect((await login.call('POST', path('cloudB-kv'), body)).status).toBe(403);
  });
});

test('an empty issuer removes the configuration, and another one can be set', async () => {
  await login.call('POST', config, { issuer: base });
  expect((await login.call('POST', config, { issuer: '' })).status).toBe(204);
  expect((await login.call('GET', config)).status).toBe(404);
  expect((await login.call('POST', config, { issuer: base })).status).toBe(200);
});
