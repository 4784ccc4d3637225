import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus, send } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

const audience = 'api://exchange';
const provider = 'projects/1/locations/global/workloadIdentityPools/pool/providers/secrets';
const account = 'sync@sandbox-project.iam.gserviceaccount.com';
const mount = 'kv';

let system: Installation;

/**
 * For each type, the fields with which a destination uses federation with the sandbox, and the trust to configure
 * there.
 */
const types: Record<string, () => Promise<{ fields: object; trust?: object }>> = {
  'cloudA-sm': async () => {
    const { roleArn } = await system.sandbox.store('cloudA-sm');
    return { fields: { region: 'eu-west-1', role_arn: roleArn }, trust: { role_arn: roleArn } };
  },
  'cloudB-kv': async () => {
    const { keyVaultUri, tenantId, clientId } = await system.sandbox.store('cloudB-kv');
    return { fields: { key_vault_uri: keyVaultUri, tenant_id: tenantId, client_id: clientId } };
  },
  'cloudC-sm': async () => ({
    fields: {
      project_id: 'sandbox-project',
      workload_identity_provider: provider,
      service_account_email: account,
    },
    trust: { provider, service_account_email: account },
  }),
};
const typeNames = Object.keys(types);

beforeAll(async () => {
  system = await startInstallation();
  expectStatus(
    await system.api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }),
    204,
  );
  expectStatus(await system.api('POST', `${mount}/data/a`, { data: { v: 'one' } }), 200);
});
afterAll(() => system?.stop());

const issuer = () => `${system.url}/v1/identity/oidc/plugins`;
const document = (path: string) => send(`${issuer()}/.well-known/${path}`, 'GET');

async function createDestination(type: string, name: string, over: object = {}): Promise<void> {
  const { fields } = await types[type]!();
  const body = { ...fields, identity_token_audience: audience, ...over };
  expectStatus(await system.api('POST', `sys/sync/destinations/${type}/${name}`, body), 200);
}

async function trust(type: string, name: string, over: object = {}): Promise<void> {
  const subject = `secrets-sync:root:${type}:${name}`;
  const credential = { store: type, issuer: issuer(), subject, audience, ...(await types[type]!()).trust };
  const answer = await send(`${system.sandboxUrl}/_sandbox/federation`, 'POST', {
    body: { ...credential, ...over },
  });
  expectStatus(answer, 201);
}

/** Sets the secret, until it is no longer PENDING. */
async function set(type: string, name: string, secretName = 'a') {
  const path = `sys/sync/destinations/${type}/${name}/associations/set`;
  const answer = await eventually(
    () => system.api('POST', path, { mount, secret_name: secretName }),
    (given) => Object.values(associatedSecrets(given)).every(({ sync_status }) => sync_status !== 'PENDING'),
  );
  return Object.values(associatedSecrets(expectStatus(answer, 200)))[0]!;
}

/** After so long, no copy of the issuer's documents lacks the key that signs next. */
async function letElevenMinutesPass(): Promise<void> {
  const db = openDatabase(system);
  await db.query("update login.identity_keys set state_since = state_since - interval '11 minutes'");
  await db.close();
}

describe('until the issuer is configured', () => {
  test('its documents do not exist, and last_error says what to do', async () => {
    expect((await document('openid-configuration')).status).toBe(404);
    await createDestination('cloudB-kv', 'early');
    expect(await set('cloudB-kv', 'early')).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(/issuer is not configured: set issuer in identity\/oidc\/config/),
    });
  });
});

describe('once it is configured', () => {
  beforeAll(async () => {
    expectStatus(await system.api('POST', 'identity/oidc/config', { issuer: system.url }), 200);
  });

  test('its documents need no token', async () => {
    const discovery = expectStatus(await document('openid-configuration'), 200).body;
    expect(discovery).toMatchObject({ issuer: issuer(), jwks_uri: `${issuer()}/.well-known/keys` });
    const { keys } = expectStatus(await document('keys'), 200).body;
    expect(keys).toHaveLength(2);
    expect(JSON.stringify(keys)).not.toMatch(/"(d|p|q)":/);
    expect((await system.as(undefined)('GET', 'identity/oidc/config')).status).toBe(403);
  });

  test.each(typeNames)('a destination of %s without a secret is synced', async (type) => {
    await createDestination(type, 'main');
    await trust(type, 'main');
    expect(await set(type, 'main')).toMatchObject({ sync_status: 'SYNCED', last_error: null });
    expect(Object.values(await system.sandbox.contents(type))).toContain('{"v":"one"}');
  });

  test('a login mount without a secret gets access tokens, once its own subject is trusted', async () => {
    expectStatus(await system.api('POST', 'sys/auth/machines', { type: 'cloudB' }), 204);
    const { tenantId, clientId } = await system.sandbox.store('cloudB-kv');
    const config = { tenant_id: tenantId, resource: 'https://r/', client_id: clientId };
    const body = { ...config, identity_token_audience: audience };
    expectStatus(await system.api('POST', 'auth/machines/config', body), 204);
    const credentials = async () => {
      const checked = expectStatus(await system.api('POST', 'auth/machines/config/check'), 200);
      return checked.body.data.steps.find(({ step }: { step: string }) => step === 'the credentials work')
        .result;
    };
    expect(await credentials()).toMatch(/does not trust the (subject|issuer) of the identity token/);
    const mounts = expectStatus(await system.api('GET', 'sys/auth'), 200).body.data;
    const subject = `plugin-identity:root:auth:${mounts['machines/'].accessor}`;
    await trust('cloudB-kv', 'machines', { subject });
    expect(await credentials()).toBe('ok');
  });

  test.each(typeNames)('an audience that %s does not trust is a clear error', async (type) => {
    const over = type === 'cloudC-sm' ? { workload_identity_provider: provider } : {};
    await createDestination(type, 'audience', { identity_token_audience: 'other', ...over });
    await trust(type, 'audience');
    expect(await set(type, 'audience')).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(
        /(credentials were|identity token was) not accepted \(|no federated credential /,
      ),
    });
  });

  test.each(typeNames)('another destination of %s is not trusted: the subject differs', async (type) => {
    await createDestination(type, 'stranger');
    expect(await set(type, 'stranger')).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(
        /credentials were not accepted \(|no federated credential |permission denied \(|the role may not be assumed \(/,
      ),
    });
  });

  test('after a rotation, older keys stay published, and destinations are synced with the new one', async () => {
    const kids = async (): Promise<string[]> =>
      (await document('keys')).body.keys.map(({ kid }: { kid: string }) => kid);
    const before = await kids();
    expectStatus(await system.api('POST', 'identity/oidc/rotate'), 409); // copies of the documents may lack the next key
    await letElevenMinutesPass();
    expectStatus(await system.api('POST', 'identity/oidc/rotate'), 204);
    expect(await kids()).toEqual(expect.arrayContaining(before));
    expect(await kids()).toHaveLength(3);
    await createDestination('cloudB-kv', 'rotated');
    await trust('cloudB-kv', 'rotated');
    expectStatus(await system.api('POST', `${mount}/data/b`, { data: { v: 'two' } }), 200);
    expect(await set('cloudB-kv', 'rotated', 'b')).toMatchObject({ sync_status: 'SYNCED' });
  });

  test('a check tries the federation', async () => {
    const { body } = expectStatus(
      await system.api('POST', 'sys/sync/destinations/cloudB-kv/rotated/check'),
      200,
    );
    expect(body.data.ok).toBe(true);
  });
});
