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

const subject = 'secrets-sync:root:cloudA-sm:main';
const audience = 'sts.amazonaws.com';
const driver = useDriver();
const request = () => putRequest(driver.harness.freshName(), 'one');
const put = (connected: ConnectedDestination) => driver.put(request(), connected);
const issuer = useTestIssuer(subject);

const registration = () => ({ store: 'cloudA-sm', issuer: issuer.url, subject, audience });

beforeAll(() => void driver.harness.sandbox.federation.add(registration()));
beforeEach(() => void driver.harness.calls());

const federated = (settings = {}) => ({
  credentials: seal({}),
  settings: {
    role_arn: driver.harness.sandbox.credentials.cloudA.roleArn,
    identity_token_audience: audience,
    identity_token_ttl: 600,
    ...settings,
  },
});
const connect = async (identityToken: DriverContext['identityToken'] = issuer.identityToken, settings = {}) =>
  driver.keep(await driver.harness.driverWith({ identityToken }, federated(settings)));

test('cloudA-sm 9: the role is assumed with an identity token, once for many calls', async () => {
  const connected = await connect();
  const requests = Array.from({ length: 4 }, request);
  await Promise.all(requests.map((one) => driver.put(one, connected)));
  expect(driver.harness.held(requests[0]!.externalName)?.value).toBe('one');
  expect(issuer.asked).toEqual([{ audience, ttlSeconds: 600 }]);
  const assumed = driver.harness.calls().filter((operation) => operation.startsWith('AssumeRole'));
  expect(assumed).toEqual(['AssumeRoleWithWebIdentity']);
});

test.each([
  [
    'another audience',
    { aud: 'other' },
    'the identity token was not accepted (InvalidIdentityTokenException)',
  ],
  [
    'another subject',
    { sub: 'secrets-sync:root:cloudA-sm:other' },
    'the role may not be assumed (AccessDenied)',
  ],
  [
    'another issuer',
    { iss: 'https://other.example.com' },
    'the identity token was not accepted (InvalidIdentityTokenException)',
  ],
  [
    'an expiry in the past',
    { exp: Math.floor(Date.now() / 1000) - 3_600 },
    'the session or the identity token has expired (ExpiredTokenException)',
  ],
])(
  'a token with %s is refused: unauthenticated, with the code of the token service',
  async (_, over, words) => {
    const connected = await connect(() => issuer.issue({ sub: subject, aud: audience }, over));
    await expect(driver.put(request(), connected)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining(`AssumeRoleWithWebIdentity of role_arn: ${words}; `),
    });
  },
);

test('a role that does not exist is unauthenticated', async () => {
  const connected = await connect(issuer.identityToken, { role_arn: 'arn:aws:iam::123456789012:role/other' });
  await expect(driver.put(request(), connected)).rejects.toMatchObject({ kind: 'unauthenticated' });
});

/** A role that is assumed in either way. */
const assumed = {
  AssumeRoleWithWebIdentity: () => connect(),
  AssumeRole: () => driver.connect({ role_arn: driver.harness.sandbox.credentials.cloudA.roleArn }),
};

exchangeFailureTests({
  operations: assumed,
  fail: (fault) => void driver.harness.sandbox.cloudA.faults.add(fault),
  clear: () => driver.harness.clear(),
  put,
});

identityTokenTests({ connect, put, identityToken: issuer.identityToken });

test('a session that is about to expire is renewed with a new identity token', async () => {
  const own = await startHarness({ sessionSeconds: 60 });
  own.sandbox.federation.add(registration());
  const connected = await own.driverWith({ identityToken: issuer.identityToken }, federated());
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
  host: 'sts.eu-central-1.amazonaws.com',
});
