import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { type Sandbox, startSandbox } from '../../../src/sandbox.ts';
import { cloudCClient, errorWith, serviceAccount } from './cloudc-harness.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const tokenUrl = 'https://oauth2.googleapis.com/token';

let ahead = 0;
let sandbox: Sandbox;
let keyFile: Record<string, string>;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: () => Date.now() + ahead });
  keyFile = JSON.parse(sandbox.credentials.cloudC.credentials);
});
afterAll(() => sandbox.stop());

/** A JWT that the service account signs, with changed claims or another key. */
function signed(
  claims: object,
  { key = keyFile.private_key, lifetimeSeconds = 3600, issuer = keyFile.client_email } = {},
) {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: String(keyFile.private_key_id) })
    .setIssuer(String(issuer))
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(createPrivateKey(String(key)));
}

const exchange = async (assertion: string, grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer') => {
  const response = await fetch(`${sandbox.cloudCUrl}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type, assertion }),
  });
  return { status: response.status, content: (await response.json()) as Record<string, string> };
};

const list = async (token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${sandbox.cloudCUrl}/v1/projects/sandbox-project/secrets`, { headers });
  return { status: response.status, content: (await response.json()) as { error?: Record<string, unknown> } };
};

const otherKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

describe('a self-signed JWT', () => {
  test('is accepted with the scope or the audience of the API', async () => {
    expect((await list(await signed({ scope }))).status).toBe(200);
    expect((await list(await signed({ aud: 'https://secretmanager.googleapis.com/' }))).status).toBe(200);
  });

  test('of the provider’s client is accepted with either', async () => {
    for (const scopes of [[], [scope]]) {
      const client = cloudCClient(sandbox, { authClient: serviceAccount(sandbox, { scopes }) });
      await client.listSecrets({ parent: 'projects/sandbox-project' });
      await client.close();
    }
  });

  test.each<[string, () => Promise<string>, number]>([
    ['signed with another key', () => signed({ scope }, { key: otherKey() }), 401],
    ['of another account', () => signed({ scope }, { issuer: 'x@y.example' }), 401],
    ['that lives longer than an hour', () => signed({ scope }, { lifetimeSeconds: 3601 }), 401],
    ['that has expired', () => signed({ scope }, { lifetimeSeconds: -600 }), 401],
    ['for another API', () => signed({ aud: 'https://pubsub.googleapis.com/' }), 403],
    ['that is none', async () => 'a.b.c', 401],
  ])('%s is refused', async (_, token, status) => {
    const { content, ...response } = await list(await token());
    expect(response.status).toBe(status);
    expect(content.error).toMatchObject({
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }],
    });
  });

  test('is required', async () => {
    expect(await list()).toMatchObject({ status: 401, content: { error: { status: 'UNAUTHENTICATED' } } });
  });

  test('of a wrong key is UNAUTHENTICATED for the provider’s client', async () => {
    const client = cloudCClient(sandbox, { authClient: serviceAccount(sandbox, { key: otherKey() }) });
    await expect(client.listSecrets({ parent: 'projects/sandbox-project' })).rejects.toEqual(
      errorWith('UNAUTHENTICATED'),
    );
  });
});

describe('the token endpoint', () => {
  test('exchanges a signed assertion for a token, which expires', async () => {
    const { status, content } = await exchange(await signed({ scope, aud: tokenUrl }));
    expect({ status, content }).toMatchObject({
      status: 200,
      content: { token_type: 'Bearer', expires_in: 3600 },
    });
    const token = String(content.access_token);
    expect((await list(token)).status).toBe(200);
    expect((await list(`${token}x`)).status).toBe(401);
    ahead = 3_600_000;
    expect((await list(token)).status).toBe(401);
    ahead = 0;
  });

  test.each<[string, () => Promise<string>]>([
    ['signed with another key', () => signed({ scope, aud: tokenUrl }, { key: otherKey() })],
    ['for another audience', () => signed({ scope, aud: 'https://example.com/' })],
    ['without the scope of the API', () => signed({ aud: tokenUrl })],
  ])('refuses an assertion %s', async (_, assertion) => {
    expect(await exchange(await assertion())).toMatchObject({
      status: 400,
      content: { error: 'invalid_grant' },
    });
  });

  test('refuses another grant type', async () => {
    expect(await exchange('x', 'password')).toMatchObject({ content: { error: 'unsupported_grant_type' } });
  });
});
