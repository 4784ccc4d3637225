import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { startTestIssuer, type TestIssuer } from '../../src/testing.ts';

const subject = 'secrets-sync:root:type:main';
const audience = 'exchange';
const provider = 'projects/1/locations/global/workloadIdentityPools/pool/providers/secrets';
const account = 'sync@sandbox-project.iam.gserviceaccount.com';

let sandbox: Sandbox;
let issuer: TestIssuer;

beforeAll(async () => {
  issuer = await startTestIssuer();
  sandbox = await startSandbox();
  const trusted = { issuer: issuer.url, subject, audience };
  sandbox.federation.add({ store: 'cloudA-sm', ...trusted });
  sandbox.federation.add({ store: 'cloudB-kv', ...trusted });
  sandbox.federation.add({ store: 'cloudC-sm', ...trusted, provider, service_account_email: account });
});
afterAll(async () => {
  await sandbox.stop();
  await issuer.stop();
});

/** A token of the directory or of the token service, or why there is none. */
interface TokenBody {
  access_token: string;
  error: string;
  error_codes: number[];
}

const post = async (url: string, form: Record<string, string>) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as TokenBody };
};

/** Exchanges a token at each cloud. Rejects with the error code of the provider. */
const exchanges: Record<string, (token: string) => Promise<string>> = {
  'cloudA-sm': async (token) => {
    const client = new STSClient({ endpoint: sandbox.cloudAUrl, region: 'eu-west-1', maxAttempts: 1 });
    const command = new AssumeRoleWithWebIdentityCommand({
      RoleArn: sandbox.credentials.cloudA.roleArn,
      RoleSessionName: 'test',
      WebIdentityToken: token,
    });
    const { Credentials, SubjectFromWebIdentityToken } = await client.send(command).catch((error: Error) => {
      throw new Error(error.name);
    });
    expect(SubjectFromWebIdentityToken).toBe(subject);
    return Credentials!.SessionToken!;
  },
  'cloudB-kv': async (token) => {
    const { status, body } = await post(`${sandbox.directoryUrl}/${sandbox.tenantId}/oauth2/v2.0/token`, {
      grant_type: 'client_credentials',
      client_id: sandbox.credentials.cloudB.clientId,
      scope: 'https://vault.azure.net/.default',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: token,
    });
    if (status !== 200) throw new Error(`AADSTS${body.error_codes[0]}`);
    return body.access_token;
  },
  'cloudC-sm': async (token) => {
    const { status, body } = await post(`${sandbox.cloudCUrl}/v1/token`, exchangeForm(token));
    if (status !== 200) throw new Error(body.error);
    return body.access_token;
  },
};
const exchangeForm = (token: string) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  audience: `//iam.googleapis.com/${provider}`,
  scope: 'https://www.googleapis.com/auth/cloud-platform',
  requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  subject_token: token,
});

describe.each([
  [
    'cloudA-sm',
    [
      'InvalidIdentityToken',
      'AccessDenied',
      'InvalidIdentityToken',
      'InvalidIdentityToken',
      'ExpiredTokenException',
    ],
  ],
  ['cloudB-kv', ['AADSTS700212', 'AADSTS700213', 'AADSTS700211', 'AADSTS700027', 'AADSTS700024']],
  ['cloudC-sm', ['invalid_grant', 'invalid_grant', 'invalid_grant', 'invalid_grant', 'invalid_grant']],
])('%s', (type, codes) => {
  const exchange = exchanges[type]!;
  const claims = { sub: subject, aud: audience };
  const [ofAudience, ofSubject, ofIssuer, ofSignature, ofTime] = codes;

  test('exchanges a token that a federated credential describes', async () => {
    expect(await exchange(await issuer.issue(claims))).toEqual(expect.any(String));
  });

  test('refuses a token that is wrong in a single part', async () => {
    const past = Math.floor(Date.now() / 1000) - 3_600;
    await expect(exchange(await issuer.issue({ ...claims, aud: 'other' }))).rejects.toThrow(ofAudience);
    await expect(exchange(await issuer.issue({ ...claims, sub: 'other' }))).rejects.toThrow(ofSubject);
    const iss = { iss: 'https://other.example.com' };
    await expect(exchange(await issuer.issue(claims, iss))).rejects.toThrow(ofIssuer);
    await expect(exchange(await issuer.issue(claims, {}, { wrongKey: true }))).rejects.toThrow(ofSignature);
    await expect(exchange(await issuer.issue(claims, { exp: past }))).rejects.toThrow(ofTime);
    await expect(exchange('nonsense')).rejects.toThrow();
  });
});

describe('a federated identity of cloudC-sm', () => {
  const generate = async (token: string, email = account) => {
    const url = `${sandbox.cloudCUrl}/v1/projects/-/serviceAccounts/${email}:generateAccessToken`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scope: ['https://www.googleapis.com/auth/cloud-platform'], lifetime: '600s' }),
    });
    const body = (await response.json()) as { accessToken: string; expireTime: string };
    return { status: response.status, body };
  };
  const list = (token: string) =>
    fetch(`${sandbox.cloudCUrl}/v1/projects/sandbox-project/secrets`, {
      headers: { authorization: `Bearer ${token}` },
    });

  test('impersonates its service account, and may do nothing else', async () => {
    const token = await exchanges['cloudC-sm']!(await issuer.issue({ sub: subject, aud: audience }));
    const { status, body } = await generate(token);
    expect([status, body.expireTime]).toEqual([200, expect.stringMatching(/Z$/)]);
    expect((await list(body.accessToken)).status).toBe(200);
    expect((await generate(token, 'other@sandbox-project.iam.gserviceaccount.com')).status).toBe(403);
    expect((await list(token)).status).toBe(403);
    expect((await generate(body.accessToken)).status).toBe(403);
    expect((await generate('nonsense')).status).toBe(401);
  });

  test('without a service account uses the API itself', async () => {
    const sub = 'secrets-sync:root:type:direct';
    sandbox.federation.add({ store: 'cloudC-sm', issuer: issuer.url, subject: sub, audience, provider });
    const token = await exchanges['cloudC-sm']!(await issuer.issue({ sub, aud: audience }));
    expect((await list(token)).status).toBe(200);
  });

  test('belongs to a provider', async () => {
    const form = exchangeForm(await issuer.issue({ sub: subject, aud: audience }));
    const other = { ...form, audience: form.audience.replace('secrets', 'other') };
    expect((await post(`${sandbox.cloudCUrl}/v1/token`, other)).body.error).toBe('invalid_target');
  });
});

describe('the control API', () => {
  const control = async (method: string, path = '', body?: object) => {
    const response = await fetch(`${sandbox.url}/_sandbox/federation${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const content = (text === '' ? {} : JSON.parse(text)) as { id?: string; credentials?: object[] };
    return { status: response.status, body: content };
  };

  test('adds, lists and removes federated credentials', async () => {
    const credential = { store: 'cloudB-kv', issuer: 'https://a.example', subject: 's', audience: 'a' };
    const { status, body } = await control('POST', '', credential);
    expect(status).toBe(201);
    expect((await control('GET')).body.credentials).toContainEqual({ id: body.id, ...credential });
    expect((await control('DELETE', `/${body.id}`)).status).toBe(204);
    expect((await control('DELETE', `/${body.id}`)).status).toBe(404);
    expect((await control('POST', '', { ...credential, issuer: 'nonsense' })).status).toBe(400);
  });
});

test('federated credentials survive a restart and a reset', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const dataFile = join(folder, 'sandbox.jsonl');
  const credential = { store: 'cloudA-sm', issuer: issuer.url, subject, audience };
  const first = await startSandbox({ dataFile });
  const removed = first.federation.add(credential);
  first.federation.add(credential);
  first.federation.remove(removed);
  first.reset();
  await first.stop();
  const second = await startSandbox({ dataFile });
  expect(second.federation.list()).toEqual([{ id: expect.any(String), ...credential }]);
  await second.stop();
  rmSync(folder, { recursive: true });
});
