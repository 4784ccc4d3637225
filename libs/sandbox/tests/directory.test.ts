import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import type { TokenOptions } from '../src/directory/issue-token.ts';
import { type Sandbox, startSandbox } from '../src/sandbox.ts';

const audience = 'https://management.azure.com/';
const oid = '11111111-2222-4333-8444-555555555555';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.reset());

const at = (path: string) => `${sandbox.directoryUrl}/${sandbox.tenantId}${path}`;
const issue = (order: Partial<TokenOptions> = {}) => sandbox.directory.issueToken({ oid, audience, ...order });

async function discover(path: string) {
  const answer = await fetch(at(path));
  return (await answer.json()) as { issuer: string; jwks_uri: string };
}

async function verify(token: string) {
  const { jwks_uri } = await discover('/v2.0/.well-known/openid-configuration');
  return jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), { audience, algorithms: ['RS256'] });
}

describe('tokens that must not pass', () => {
  test.each<[string, Partial<TokenOptions>, string]>([
    ['a key that was never published', { wrongKey: true }, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['an unknown key id', { kid: 'unknown' }, 'ERR_JWKS_NO_MATCHING_KEY'],
    ['one that is over', { expiresInSeconds: -120 }, 'ERR_JWT_EXPIRED'],
    ['one that is not yet', { notBefore: 4_000_000_000 }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['another audience', { audience: 'other' }, 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['no signature', { algorithm: 'none' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['the public key as a secret', { algorithm: 'HS256' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['another algorithm', { algorithm: 'PS256' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
  ])('%s', async (_, order, code) => {
    await expect(issue(order).then(verify)).rejects.toMatchObject({ code });
  });
});

describe('tokens', () => {
  test('v1, of a machine', async () => {
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

  test('v2, and with claims replaced and taken away', async () => {
    const { payload } = await verify(
      await issue({ version: 2, appid: 'client', overrides: { tid: 'other', uti: null } }),
    );
    expect(payload).toMatchObject({
      iss: `https://login.microsoftonline.com/${sandbox.tenantId}/v2.0`,
      azp: 'client',
      azpacr: '2',
      ver: '2.0',
      tid: 'other',
    });
    expect(payload).not.toHaveProperty('appid');
    expect(payload).not.toHaveProperty('uti');
  });

  test('with more groups than fit', async () => {
    const payload = decodeJwt(await issue({ groupOverage: true, groups: ['g'] }));
    expect(payload).not.toHaveProperty('groups');
    expect(payload).toMatchObject({
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: expect.anything() },
    });
  });

  test('of a user-assigned identity name it and where it runs', async () => {
    const payload = decodeJwt(await sandbox.directory.issueTokenFor('build-agent', { audience }));
    expect(payload.xms_mirid).toMatch(/userAssignedIdentities\/build-agent$/);
    expect(payload.xms_az_rid).toMatch(/virtualMachineScaleSets\/agents$/);
  });

  test('are made over HTTP, by shape or by identity', async () => {
    const order = (body: object) =>
      fetch(`${sandbox.url}/_sandbox/directory/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    for (const body of [
      { oid, audience },
      { identity: 'web-1', audience, version: 2 },
    ]) {
      const { token } = (await (await order(body)).json()) as { token: string };
      await verify(token);
    }
    expect((await order({ identity: 'nobody', audience })).status).toBe(400);
    expect((await order({ audience })).status).toBe(400);
  });
});

describe('discovery', () => {
  test('of v1 and v2 name their issuer and keys on the sandbox', async () => {
    expect(await discover('/.well-known/openid-configuration')).toMatchObject({
      issuer: `https://sts.windows.net/${sandbox.tenantId}/`,
      jwks_uri: at('/discovery/keys'),
    });
    expect(await discover('/v2.0/.well-known/openid-configuration')).toMatchObject({
      issuer: `https://login.microsoftonline.com/${sandbox.tenantId}/v2.0`,
      jwks_uri: at('/discovery/v2.0/keys'),
    });
  });

  test('another tenant is unknown', async () => {
    const answer = await fetch(`${sandbox.directoryUrl}/other/v2.0/.well-known/openid-configuration`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_tenant' });
  });

  test('publishes no private part', async () => {
    const { keys } = (await (await fetch(at('/discovery/v2.0/keys'))).json()) as { keys: object[] };
    for (const key of keys) expect(Object.keys(key).sort()).toEqual(['e', 'kid', 'kty', 'n', 'use', 'x5t']);
  });

  test('keys rotate; the older stay published until told otherwise', async () => {
    const before = await issue();
    await sandbox.directory.rotate();
    await verify(before);
    await verify(await issue());
    const answer = await fetch(`${sandbox.url}/_sandbox/directory/rotate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"keep_older": false}',
    });
    expect(await answer.json()).toEqual({ kid: expect.any(String) });
    await expect(verify(before)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  test('fails when told so: down, slow, garbage, redirect, huge', async () => {
    const keys = (effect: object) => {
      sandbox.directory.faults.add({ ...(effect as { effect: 'reset' }), operation: 'keys', times: 1 });
      return fetch(at('/discovery/v2.0/keys'), { redirect: 'manual' });
    };
    await expect(keys({ effect: 'reset' })).rejects.toThrow();
    expect((await keys({ effect: 'server-error' })).status).toBe(503);
    expect((await keys({ effect: 'throttle', retryAfterSeconds: 3 })).headers.get('retry-after')).toBe('3');
    expect((await keys({ effect: 'slow', ms: 20 })).status).toBe(200);
    await expect((await keys({ effect: 'garbage' })).json()).rejects.toThrow(/JSON/);
    expect((await keys({ effect: 'redirect', location: 'http://127.0.0.1:9/' })).status).toBe(302);
    expect((await (await keys({ effect: 'huge', bytes: 1_000_000 })).text()).length).toBe(1_000_000);
    expect(sandbox.directory.calls()).toHaveLength(7);
  });
});

describe('metadata', () => {
  const ask = (query: string, headers: Record<string, string> = { metadata: 'true' }) =>
    fetch(`${sandbox.url}/metadata/identity/oauth2/token?${query}`, { headers });
  const good = `api-version=2018-02-01&resource=${encodeURIComponent(audience)}`;

  test('refuses without its header, with a forwarded one, or without its parameters', async () => {
    const attempts = [
      ask(good, {}),
      ask(good, { metadata: 'true', 'x-forwarded-for': '1.1.1.1' }),
      ask('resource=x'),
      ask('api-version=2018-02-01'),
      ask(`${good}&client_id=unknown`),
    ];
    for (const answer of await Promise.all(attempts)) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
    }
  });

  test('answers texts only, with a token that holds', async () => {
    const answer = (await (await ask(good)).json()) as Record<string, string>;
    const fields = [
      'access_token',
      'client_id',
      'expires_in',
      'expires_on',
      'ext_expires_in',
      'not_before',
      'resource',
    ];
    expect(Object.keys(answer)).toEqual([...fields, 'token_type']);
    expect(Object.values(answer).every((text) => typeof text === 'string')).toBe(true);
    const { payload } = await verify(answer.access_token ?? '');
    expect(payload.xms_mirid).toMatch(/virtualMachines\/web-1$/);
  });

  test('answers for the identity that is asked for', async () => {
    const agent = sandbox.directory.identities.find(({ name }) => name === 'build-agent');
    const answer = (await (await ask(`${good}&client_id=${agent?.appid}`)).json()) as Record<string, string>;
    expect(decodeJwt(answer.access_token ?? '')).toMatchObject({ oid: agent?.oid, groups: agent?.groups });
  });
});
