import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import type { TokenOptions } from '../../src/directory/issue-token.ts';
import type { FaultSpec } from '../../src/faults/fault-spec.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';

const audience = 'https://management.azure.com/';
const oid = '11111111-2222-4333-8444-555555555555';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.reset());

const tenantUrl = (path: string) => `${sandbox.directoryUrl}/${sandbox.tenantId}${path}`;
const issue = (options: Partial<TokenOptions> = {}) =>
  sandbox.directory.issueToken({ oid, audience, ...options });

async function discover(path: string) {
  const response = await fetch(tenantUrl(path));
  return (await response.json()) as { issuer: string; jwks_uri: string };
}

async function verify(token: string) {
  const { jwks_uri } = await discover('/v2.0/.well-known/openid-configuration');
  return jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), { audience, algorithms: ['RS256'] });
}

function postControl(path: string, body: object) {
  return fetch(`${sandbox.url}/_sandbox/directory/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

describe('invalid tokens fail verification', () => {
  test.each<[string, Partial<TokenOptions>, string]>([
    ['wrongKey: an unpublished key', { wrongKey: true }, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['kid: an unknown key ID', { kid: 'unknown' }, 'ERR_JWKS_NO_MATCHING_KEY'],
    ['expiresInSeconds: expired', { expiresInSeconds: -120 }, 'ERR_JWT_EXPIRED'],
    ['notBefore: not yet valid', { notBefore: 4_000_000_000 }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['audience: for another audience', { audience: 'other' }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['algorithm none: unsigned', { algorithm: 'none' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['algorithm HS256: the public key as a secret', { algorithm: 'HS256' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['algorithm PS256: an unexpected algorithm', { algorithm: 'PS256' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
  ])('%s', async (_, options, code) => {
    await expect(issue(options).then(verify)).rejects.toMatchObject({ code });
  });
});

describe('tokens', () => {
  test('v1 tokens have the claims of the real directory', async () => {
    const machine = '/subscriptions/s/resourcegroups/rg/providers/Microsoft.Compute/virtualMachines/web-1';
    const { payload } = await verify(await issue({ appid: 'client', xms_mirid: machine, groups: ['g'] }));
    expect(payload).toMatchObject({
      iss: `https://sts.windows.net/${sandbox.tenantId}/`,
      idp: `https://sts.windows.net/${sandbox.tenantId}/`,
      aud: audience,
      appid: 'client',
      appidacr: '2',
      oid,
      sub: oid,
      tid: sandbox.tenantId,
      ver: '1.0',
      uti: expect.any(String),
      xms_mirid: machine,
      groups: ['g'],
    });
    expect((payload.exp ?? 0) - Date.now() / 1000).toBeGreaterThan(86_000);
  });

  test('v2 tokens name their client in azp', async () => {
    const { payload } = await verify(await issue({ version: 2, appid: 'client' }));
    expect(payload).toMatchObject({
      iss: `https://login.microsoftonline.com/${sandbox.tenantId}/v2.0`,
      azp: 'client',
      azpacr: '2',
      ver: '2.0',
    });
    expect(payload).not.toHaveProperty('appid');
  });

  test('overrides replace claims, and null removes them', async () => {
    const { payload } = await verify(await issue({ overrides: { tid: 'other', uti: null } }));
    expect(payload.tid).toBe('other');
    expect(payload).not.toHaveProperty('uti');
  });

  test('groupOverage replaces the groups by a reference', async () => {
    const payload = decodeJwt(await issue({ groupOverage: true, groups: ['g'] }));
    expect(payload).not.toHaveProperty('groups');
    expect(payload).toMatchObject({
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: expect.anything() },
    });
  });

  test('the token of a user-assigned identity names the identity and the resource that it runs on', async () => {
    const payload = decodeJwt(await sandbox.directory.issueTokenFor('build-agent', { audience }));
    expect(payload.xms_mirid).toMatch(/userAssignedIdentities\/build-agent$/);
    expect(payload.xms_az_rid).toMatch(/virtualMachineScaleSets\/agents$/);
  });

  test('the control API issues tokens by properties or for an identity', async () => {
    for (const body of [
      { oid, audience },
      { identity: 'web-1', audience, version: 2 },
    ]) {
      const { token } = (await (await postControl('token', body)).json()) as { token: string };
      await verify(token);
    }
  });

  test.each([
    ['an unknown identity', { identity: 'nobody', audience }],
    ['neither an identity nor an object ID', { audience }],
  ])('the control API rejects a token request with %s', async (_, body) => {
    expect((await postControl('token', body)).status).toBe(400);
  });
});

describe('discovery', () => {
  test.each([
    ['v1', '/.well-known/openid-configuration', 'https://sts.windows.net/<tenant>/', '/discovery/keys'],
    [
      'v2',
      '/v2.0/.well-known/openid-configuration',
      'https://login.microsoftonline.com/<tenant>/v2.0',
      '/discovery/v2.0/keys',
    ],
  ])('the %s document has the real issuer and the keys of the sandbox', async (_, path, issuer, keys) => {
    expect(await discover(path)).toMatchObject({
      issuer: issuer.replace('<tenant>', sandbox.tenantId),
      jwks_uri: tenantUrl(keys),
    });
  });

  test('names the ID of the tenant if that is requested by one of its domains, in any case', async () => {
    sandbox.directory.configure({ domains: ['contoso.example'] });
    const path = 'v2.0/.well-known/openid-configuration';
    const response = await fetch(`${sandbox.directoryUrl}/Contoso.Example/${path}`);
    expect(await response.json()).toEqual(await discover(`/${path}`));
    expect((await fetch(`${sandbox.directoryUrl}/sandbox.onmicrosoft.com/${path}`)).status).toBe(400);
  });

  test('an unknown tenant is rejected', async () => {
    const response = await fetch(`${sandbox.directoryUrl}/other/v2.0/.well-known/openid-configuration`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_tenant' });
  });

  test('published keys contain no private parts', async () => {
    const { keys } = (await (await fetch(tenantUrl('/discovery/v2.0/keys'))).json()) as { keys: object[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys)
      expect(Object.keys(key).sort()).toEqual(['e', 'issuer', 'kid', 'kty', 'n', 'use', 'x5t']);
  });

  test('a rotation keeps older keys published, unless keep_older is false', async () => {
    const before = await issue();
    await sandbox.directory.rotate();
    await verify(before);
    await verify(await issue());
    const rotated = await postControl('rotate', { keep_older: false });
    expect(await rotated.json()).toEqual({ kid: expect.any(String) });
    await expect(verify(before)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });
});

describe('faults', () => {
  const fetchKeysWith = (fault: FaultSpec) => {
    sandbox.directory.faults.add({ ...fault, operation: 'keys', times: 1 });
    return fetch(tenantUrl('/discovery/v2.0/keys'), { redirect: 'manual' });
  };

  test('reset: the connection is reset', async () => {
    await expect(fetchKeysWith({ effect: 'reset' })).rejects.toThrow();
  });

  test('server-error: 503', async () => {
    expect((await fetchKeysWith({ effect: 'server-error' })).status).toBe(503);
  });

  test('throttle: 429 with Retry-After', async () => {
    const response = await fetchKeysWith({ effect: 'throttle', retryAfterSeconds: 3 });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('3');
  });

  test('slow: the regular response, logged as delayed', async () => {
    expect((await fetchKeysWith({ effect: 'slow', ms: 20 })).status).toBe(200);
    expect(sandbox.directory.calls()).toMatchObject([{ operation: 'keys', outcome: 200, fault: 'slow' }]);
  });

  test('garbage: 200 with a body that is not JSON', async () => {
    const response = await fetchKeysWith({ effect: 'garbage' });
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(/JSON/);
  });

  test('redirect: 302 to the specified location', async () => {
    const response = await fetchKeysWith({ effect: 'redirect', location: 'http://127.0.0.1:9/' });
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('http://127.0.0.1:9/');
  });

  test('huge: a body of the specified size', async () => {
    const response = await fetchKeysWith({ effect: 'huge', bytes: 1_000_000 });
    expect(await response.text()).toHaveLength(1_000_000);
  });
});

describe('instance metadata', () => {
  const fetchToken = (query: string, headers: Record<string, string> = { metadata: 'true' }) =>
    fetch(`${sandbox.url}/metadata/identity/oauth2/token?${query}`, { headers });
  const validQuery = `api-version=2018-02-01&resource=${encodeURIComponent(audience)}`;

  test.each([
    ['without the Metadata header', validQuery, {}],
    ['with X-Forwarded-For', validQuery, { metadata: 'true', 'x-forwarded-for': '1.1.1.1' }],
    ['without api-version', 'resource=x', { metadata: 'true' }],
    ['without resource', 'api-version=2018-02-01', { metadata: 'true' }],
    ['for an unknown client', `${validQuery}&client_id=unknown`, { metadata: 'true' }],
  ])('a request %s is rejected', async (_, query, headers) => {
    const response = await fetchToken(query, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'invalid_request' });
  });

  test("the response contains only strings, and a valid token of the machine's own identity", async () => {
    const body = (await (await fetchToken(validQuery)).json()) as Record<string, string>;
    expect(body).toEqual({
      access_token: expect.any(String),
      client_id: expect.any(String),
      expires_in: expect.any(String),
      expires_on: expect.any(String),
      ext_expires_in: expect.any(String),
      not_before: expect.any(String),
      resource: audience,
      token_type: 'Bearer',
    });
    const { payload } = await verify(body.access_token ?? '');
    expect(payload.xms_mirid).toMatch(/virtualMachines\/web-1$/);
  });

  test('client_id selects the identity', async () => {
    const agent = sandbox.directory.identities.find(({ name }) => name === 'build-agent')!;
    const response = await fetchToken(`${validQuery}&client_id=${agent.appid}`);
    const { access_token } = (await response.json()) as { access_token: string };
    expect(decodeJwt(access_token)).toMatchObject({ oid: agent.oid, groups: agent.groups });
  });
});
