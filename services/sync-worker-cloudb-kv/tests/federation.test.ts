import { beforeAll, expect, test } from '@jest/globals';
import { useTestIssuer } from '@secrets/sandbox/testing';
import { seal } from '@secrets/seal';
import type { ConnectedDestination, DriverContext } from '@secrets/sync-worker';
import { guardedExchangeTest, identityTokenTests, putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const subject = 'secrets-sync:root:cloudB-kv:main';
const audience = 'api://AzureADTokenExchange';
const driver = useDriver();
const request = () => putRequest(driver.harness.freshName(), 'one');
const put = (connected: ConnectedDestination) => driver.put(request(), connected);
const issuer = useTestIssuer(subject);

const registration = () => ({ store: 'cloudB-kv', issuer: issuer.url, subject, audience });

beforeAll(() => void driver.harness.sandbox.federation.add(registration()));

const federated = {
  credentials: seal({}),
  settings: { identity_token_audience: audience, identity_token_ttl: 600 },
};
const connect = async (identityToken: DriverContext['identityToken'] = issuer.identityToken, settings = {}) =>
  driver.keep(
    await driver.harness.driverWith(
      { identityToken },
      { ...federated, settings: { ...federated.settings, ...settings } },
    ),
  );

test('cloudB-kv 11: without a secret, an identity token is exchanged, once for many calls', async () => {
  const connected = await connect();
  driver.harness.calls();
  const requests = Array.from({ length: 4 }, request);
  await Promise.all(requests.map((one) => driver.put(one, connected)));
  expect(driver.harness.held(requests[0]!.externalName)?.value).toBe('one');
  expect(issuer.asked).toEqual([{ audience, ttlSeconds: 600 }]);
  expect(driver.harness.calls().filter((operation) => operation === 'token')).toHaveLength(1);
});

test.each([
  ['another audience', { aud: 'other' }, 'AADSTS700212'],
  ['another subject', { sub: 'secrets-sync:root:cloudB-kv:other' }, 'AADSTS700213'],
  ['another issuer', { iss: 'https://other.example.com' }, 'AADSTS700211'],
  ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 3_600 }, 'AADSTS700024'],
])('a token with %s is refused: unauthenticated, with the code of the directory', async (_, over, code) => {
  const connected = await connect(() => issuer.issue({ sub: subject, aud: audience }, over));
  await expect(driver.put(request(), connected)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringMatching(`^requesting a token: .* identity token.* \\(${code}\\); `),
  });
});

identityTokenTests({ connect, put, identityToken: issuer.identityToken });

test('cloudB-kv 9: a token that has expired is replaced, with a new identity token', async () => {
  let ahead = 0;
  const own = await startHarness({}, { clock: () => Date.now() + ahead });
  own.sandbox.federation.add(registration());
  const identityToken: DriverContext['identityToken'] = async (options) => {
    issuer.asked.push(options);
    const exp = Math.floor((Date.now() + ahead) / 1000) + options.ttlSeconds;
    return issuer.issue({ sub: subject, aud: options.audience }, { exp });
  };
  const connected = await own.driverWith({ identityToken }, federated);
  const signal = AbortSignal.timeout(60_000);
  await connected.put(putRequest(own.freshName(), 'one'), signal);
  ahead = 2 * 3_600_000;
  await connected.put(putRequest(own.freshName(), 'two'), signal);
  expect(issuer.asked).toHaveLength(2);
  await connected.close();
  await own.stop();
});

guardedExchangeTest({
  connectWith: async (guard) => {
    const options = { authorityUrl: undefined, identityToken: issuer.identityToken };
    return driver.keep(await driver.harness.driverWith(options, federated, guard));
  },
  put,
  host: 'login.microsoftonline.com',
});
