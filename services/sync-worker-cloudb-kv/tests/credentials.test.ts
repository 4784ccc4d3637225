import { afterEach, describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { createEgressGuard } from '@secrets/sync-worker';
import { newValue, ownWords, putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

// own modules: the SDK remembers where it found the managed identity.

const driver = useDriver();
const { connect, put, putNew } = driver;
const signal = () => AbortSignal.timeout(60_000);
const request = () => putRequest(driver.harness.freshName(), 'one');

describe('cloudB-kv 11: a client secret', () => {
  test('is exchanged for one token for many calls, also concurrent ones', async () => {
    const connected = await connect();
    driver.harness.calls();
    await Promise.all(Array.from({ length: 8 }, () => put(request(), connected)));
    expect(driver.harness.calls().filter((operation) => operation === 'token')).toHaveLength(1);
  });

  test.each([
    ['wrong secret', { credentials: seal({ client_secret: 'canary' }) }, 'AADSTS7000215'],
    ['unknown application', { settings: { client_id: 'other' } }, 'AADSTS700016'],
    ['unknown tenant', { settings: { tenant_id: 'other' } }, 'AADSTS90002'],
  ])('of an %s is unauthenticated, with the code of the directory', async (_, over, code) => {
    const connected = driver.keep(await driver.harness.connect(over));
    await expect(put(request(), connected)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringMatching(
        `^requesting a token: (client_secret|the tenant has|there is no).* \\(${code}\\); `,
      ),
    });
  });

  test.each([
    ['throttle', 'throttled'],
    ['server-error', 'unavailable'],
    ['garbage', 'unavailable'],
    ['huge', 'unavailable'],
    ['redirect', 'unavailable'],
    ['reset', 'unavailable'],
    ['many-headers', 'unavailable'],
    ['empty', 'unavailable'],
    ['cut-off', 'unavailable'],
    ['deep', 'unavailable'],
  ] as const)('cannot be exchanged while the directory has the fault %s: %s', async (effect, kind) => {
    const connected = await connect();
    driver.harness.sandbox.directory.faults.add({ effect });
    await expect(put(request(), connected)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(kind === 'unavailable' ? ownWords : ''),
    });
    driver.harness.clear();
    await put(request(), connected);
  });

  test('waits as long as the directory asks', async () => {
    const connected = await connect();
    driver.harness.sandbox.directory.faults.add({ effect: 'throttle', retryAfterSeconds: 7 });
    await expect(put(request(), connected)).rejects.toMatchObject({ retryAfterSeconds: 7 });
  });

  test('a call to a silent directory ends when the signal aborts', async () => {
    const connected = await connect();
    driver.harness.sandbox.directory.faults.add({ effect: 'silence' });
    await expect(connected.put(request(), AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });
});

describe('cloudB-kv 9: a refused token', () => {
  test('is replaced once, for all calls that it was refused for', async () => {
    const own = await startHarness();
    const connected = await own.connect();
    const first = putRequest(own.freshName(), 'one');
    const { remote } = await connected.put(first, signal());
    await own.sandbox.directory.rotate({ keepOlder: false });
    own.calls();
    await Promise.all([
      connected.put({ ...first, ...newValue(first, 'two'), remote }, signal()),
      ...Array.from({ length: 5 }, () => connected.put(putRequest(own.freshName(), 'x'), signal())),
    ]);
    expect(own.calls().filter((operation) => operation === 'token')).toHaveLength(1);
    expect(own.held(first.externalName)?.value).toBe('two');
    await connected.close();
    await own.stop();
  });

  test('that is refused again is unauthenticated', async () => {
    const { next } = await putNew();
    driver.harness.inject('unauthenticated');
    await expect(put(next('two'))).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining('Get: the credentials were not accepted (Unauthorized)'),
    });
    expect(driver.harness.calls().filter((operation) => operation === 'token').length).toBeLessThanOrEqual(1);
  });

  test('that has expired is replaced', async () => {
    let ahead = 0;
    const own = await startHarness({}, { clock: () => Date.now() + ahead });
    const connected = await own.connect();
    await connected.put(putRequest(own.freshName(), 'one'), signal());
    ahead = 2 * 3_600_000;
    await connected.put(putRequest(own.freshName(), 'two'), signal());
    await connected.close();
    await own.stop();
  });
});

describe("cloudB-kv 11: without a client secret, the worker's identity is used", () => {
  const variable = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';
  afterEach(() => {
    delete process.env[variable];
  });

  test.each(['', 'build-agent'])('its managed identity %s', async (identity) => {
    process.env[variable] = driver.harness.sandbox.url;
    const { identities } = driver.harness.sandbox.directory;
    const client_id = identities.find(({ name }) => name === identity)?.appid ?? '';
    const connected = driver.keep(
      await driver.harness.connect({ credentials: seal({}), settings: { client_id } }),
    );
    const one = request();
    await put(one, connected);
    expect(driver.harness.held(one.externalName)?.value).toBe('one');
    expect(driver.harness.calls()).toContain('metadata-token');
  });
});

describe('Common: every socket goes through the egress guard', () => {
  const inward = () => createEgressGuard({ resolve: async () => ['169.254.169.254'] });

  test('to a vault', async () => {
    const connected = driver.keep(await driver.harness.driverWith({ endpointUrl: undefined }, {}, inward()));
    await expect(put(request(), connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/^connection to main\.vault\.azure\.net refused/),
    });
  });

  test.each([
    ['cloud', 'vault.azure.net', 'login.microsoftonline.com'],
    ['china', 'vault.azure.cn', 'login.partner.microsoftonline.cn'],
    ['usgovernment', 'vault.usgovcloudapi.net', 'login.microsoftonline.us'],
  ])('cloudB-kv 10: to the directory of %s, which follows from the cloud', async (cloud, suffix, host) => {
    const settings = { cloud, key_vault_uri: `https://main.${suffix}` };
    const connected = driver.keep(
      await driver.harness.driverWith({ authorityUrl: undefined }, { settings }, inward()),
    );
    await expect(put(request(), connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`connection to ${host} refused`),
    });
  });
});

test.each(['china', 'usgovernment'])(
  'cloudB-kv 10: a vault of %s gets a token for its own audience',
  async (cloud) => {
    const suffix = cloud === 'china' ? 'vault.azure.cn' : 'vault.usgovcloudapi.net';
    const connected = await connect({ cloud, key_vault_uri: `https://main.${suffix}` });
    const one = request();
    await put(one, connected);
    expect(driver.harness.held(one.externalName, `main.${suffix}`)?.value).toBe('one');
  },
);

test("cloudB-kv 8: a vault may be at the operator's endpoint itself, and nowhere else", async () => {
  const connected = await connect({ key_vault_uri: driver.harness.sandbox.cloudBUrl });
  const one = request();
  const { remote } = await put(one, connected);
  expect(driver.harness.held(one.externalName, 'sandbox.vault.azure.net')?.value).toBe('one');
  expect(remote).toMatchObject({ name: one.externalName });
  await expect(connect({ key_vault_uri: 'http://127.0.0.1:9' })).rejects.toMatchObject({ kind: 'rejected' });
});
