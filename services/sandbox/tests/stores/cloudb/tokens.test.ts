import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { cloudBClient, errorWith, holding, requestToken, useCloudB } from './cloudb-harness.ts';

const cloudB = useCloudB();
const audience = 'https://vault.azure.net';

describe('the vault', () => {
  test('challenges a request without a token, and says where to get one', async () => {
    const response = await fetch(`${cloudB.sandbox().cloudBUrl}/secrets/db?api-version=7.5`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer authorization="https://login.microsoftonline.com/${cloudB.sandbox().tenantId}", resource="${audience}"`,
    );
    expect(await response.json()).toMatchObject({ error: { code: 'Unauthorized' } });
  });

  test('accepts the tokens of applications and of managed identities', async () => {
    await cloudB.client().setSecret('db', 'one');
    const token = await cloudB.sandbox().directory.issueTokenFor('web-1', { audience });
    const client = cloudBClient(cloudB.sandbox(), { credential: holding(token) });
    expect((await client.getSecret('db')).value).toBe('one');
  });

  test.each([
    ['of another audience', { audience: 'https://management.azure.com/' }],
    ['that has expired', { audience, expiresInSeconds: -600 }],
    ['that is not valid yet', { audience, notBefore: Math.floor(Date.now() / 1000) + 3_600 }],
    ['with another signature', { audience, wrongKey: true }],
    ['without a signature', { audience, algorithm: 'none' as const }],
    ['that was signed with the public key', { audience, algorithm: 'HS256' as const }],
    [
      'of another tenant',
      { audience, overrides: { tid: 'another', iss: 'https://sts.windows.net/another/' } },
    ],
  ])('refuses a token %s', async (_, options) => {
    const token = await cloudB.sandbox().directory.issueTokenFor('web-1', options);
    const client = cloudBClient(cloudB.sandbox(), { credential: holding(token) });
    await expect(client.getSecret('db')).rejects.toEqual(errorWith(401, 'Unauthorized'));
  });

  test.each(['vault.azure.cn', 'vault.usgovcloudapi.net'])('of *.%s has its own audience', async (suffix) => {
    const client = cloudBClient(cloudB.sandbox(), { vault: `https://main.${suffix}` });
    await client.setSecret('db', 'one');
    const foreign = await cloudB.sandbox().directory.issueTokenFor('web-1', { audience });
    const stranger = cloudBClient(cloudB.sandbox(), {
      vault: `https://main.${suffix}`,
      credential: holding(foreign),
    });
    await expect(stranger.getSecret('db')).rejects.toEqual(errorWith(401, 'Unauthorized'));
  });
});

describe('the token endpoint', () => {
  test('issues a token for the audience of the scope', async () => {
    const response = await requestToken(cloudB.sandbox());
    const { access_token: token } = (await response.json()) as { access_token: string };
    const { clientId, tenantId } = cloudB.sandbox().credentials.cloudB;
    expect(decodeJwt(token)).toMatchObject({ aud: audience, tid: tenantId, appid: clientId, appidacr: '1' });
  });

  test.each([
    ['an invalid secret', { client_secret: 'wrong' }, 401, 'invalid_client'],
    ['an unknown application', { client_id: 'another' }, 400, 'unauthorized_client'],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['no scope', { scope: '' }, 400, 'invalid_request'],
    ['a scope of single permissions', { scope: `${audience}/read` }, 400, 'invalid_scope'],
  ])('refuses %s', async (_, over, status, error) => {
    const response = await requestToken(cloudB.sandbox(), over);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error });
  });

  test('refuses an unknown tenant', async () => {
    expect((await requestToken(cloudB.sandbox(), {}, 'another')).status).toBe(400);
  });
});
