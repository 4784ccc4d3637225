import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { useTestIssuer } from '@secrets/sandbox/testing';
import { seal } from '@secrets/seal';
import type { ConnectedDestination, DriverContext } from '@secrets/sync-worker';
import {
  exchangeFailureTests,
  guardedExchangeTest,
  identityTokenTests,
  putRequest,
} from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const subject = 'secrets-sync:root:cloudC-sm:main';
const provider = 'projects/1/locations/global/workloadIdentityPools/pool/providers/secrets';
const audience = `https://iam.googleapis.com/${provider}`;
const account = 'sync@sandbox-project.iam.gserviceaccount.com';
const driver = useDriver();
const request = () => putRequest(driver.harness.freshName(), 'one');
const put = (connected: ConnectedDestination) => driver.put(request(), connected);
const issuer = useTestIssuer(subject);

const registration = () => ({
  ...{ store: 'cloudC-sm', issuer: issuer.url, subject, audience },
  ...{ provider, service_account_email: account },
});

beforeAll(() => void driver.harness.sandbox.federation.add(registration()));
beforeEach(() => void driver.harness.calls());

const federated = (settings = {}) => ({
  credentials: seal({}),
  settings: {
    identity_token_audience: audience,
    identity_token_ttl: 600,
    service_account_email: account,
    ...settings,
  },
});
const connect = async (identityToken: DriverContext['identityToken'] = issuer.identityToken, settings = {}) =>
  driver.keep(await driver.harness.driverWith({ identityToken }, federated(settings)));
const exchanges = () =>
  driver.harness
    .calls()
    .filter((operation) => operation === 'exchange-token' || operation === 'generateAccessToken');

test('cloudC-sm 10: an identity token is exchanged and impersonates the service account, once for many calls', async () => {
  const connected = await connect();
  const requests = Array.from({ length: 4 }, request);
  await Promise.all(requests.map((one) => driver.put(one, connected)));
  expect(driver.harness.held(requests[0]!.externalName)?.value).toBe('one');
  expect(issuer.asked).toEqual([{ audience, ttlSeconds: 600 }]);
  expect(exchanges()).toEqual(['exchange-token', 'generateAccessToken']);
});

test('cloudC-sm 10: without a service account, the federated identity itself is used', async () => {
  const sub = 'secrets-sync:root:cloudC-sm:direct';
  const own = { store: 'cloudC-sm', issuer: issuer.url, subject: sub, audience: 'custom', provider };
  driver.harness.sandbox.federation.add(own);
  const connected = await connect((options) => issuer.issue({ sub, aud: options.audience }), {
    service_account_email: '',
    identity_token_audience: 'custom',
    workload_identity_provider: provider,
  });
  const one = request();
  await driver.put(one, connected);
  expect(driver.harness.held(one.externalName)?.value).toBe('one');
  expect(exchanges()).toEqual(['exchange-token']);
});

test.each([
  ['another audience', { aud: 'other' }],
  ['another subject', { sub: 'secrets-sync:root:cloudC-sm:other' }],
  ['another issuer', { iss: 'https://other.example.com' }],
  ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 3_600 }],
])('a token with %s is refused: unauthenticated, with the code of the token service', async (_, over) => {
  const connected = await connect(() => issuer.issue({ sub: subject, aud: audience }, over));
  await expect(driver.put(request(), connected)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining(
      'exchanging the identity token: the credentials were not accepted (invalid_grant)',
    ),
  });
});

test.each([
  [
    'a provider that does not exist',
    { workload_identity_provider: provider.replace('secrets', 'other') },
    'the request for a token was rejected (invalid_target)',
  ],
  [
    'a service account that it may not impersonate',
    { service_account_email: 'other@sandbox-project.iam.gserviceaccount.com' },
    'permission denied (PERMISSION_DENIED: IAM_PERMISSION_DENIED)',
  ],
])('a token for %s is unauthenticated', async (_, settings, words) => {
  const connected = await connect(issuer.identityToken, settings);
  await expect(driver.put(request(), connected)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining(`exchanging the identity token: ${words}; `),
  });
});

test.each(['exchange-token', 'generateAccessToken'])(
  'NOT_FOUND of %s does not count as a secret that is not found: a removal fails, and a put creates nothing',
  async (operation) => {
    const { name, remote, next } = await driver.putNew();
    driver.harness.sandbox.cloudC.faults.add({ effect: 'error', operation, code: 'NOT_FOUND', status: 404 });
    const connected = await connect();
    await expect(driver.remove(name, remote, connected)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(driver.put(next('two'), connected)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(driver.harness.held(name)?.value).toBe('one');
    expect(driver.harness.calls()).not.toContain('CreateSecret');
  },
);

exchangeFailureTests({
  operations: { 'exchange-token': () => connect(), generateAccessToken: () => connect() },
  fail: (fault) => void driver.harness.sandbox.cloudC.faults.add(fault),
  clear: () => driver.harness.clear(),
  put,
});

identityTokenTests({ connect, put, identityToken: issuer.identityToken });

test('a token that is about to expire is renewed with a new identity token', async () => {
  const own = await startHarness({ tokenSeconds: 60 });
  const direct = { ...registration(), service_account_email: undefined };
  own.sandbox.federation.add(direct);
  const connected = await own.driverWith(
    { identityToken: issuer.identityToken },
    federated({ service_account_email: '' }),
  );
  const signal = AbortSignal.timeout(60_000);
  await connected.put(putRequest(own.freshName(), 'one'), signal);
  const before = issuer.asked.length;
  await connected.put(putRequest(own.freshName(), 'two'), signal);
  expect(issuer.asked.length).toBeGreaterThan(before);
  await connected.close();
  await own.stop();
});

guardedExchangeTest({
  connectWith: async (guard) => {
    const options = { endpointUrl: undefined, identityToken: issuer.identityToken };
    return driver.keep(await driver.harness.driverWith(options, federated(), guard));
  },
  put,
  host: 'sts.googleapis.com',
});
