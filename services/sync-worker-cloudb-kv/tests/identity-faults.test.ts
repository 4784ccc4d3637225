import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

// own modules: the SDK remembers where it found the managed identity.

// Not beside the tests of managed identities: the SDK keeps their tokens.
const variable = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';
const driver = useDriver();
beforeAll(() => {
  process.env[variable] = driver.harness.sandbox.url;
});
afterAll(() => {
  delete process.env[variable];
});

const connect = async () =>
  driver.keep(await driver.harness.connect({ credentials: seal({}), settings: { client_id: '' } }));
const aPut = () => putRequest(driver.harness.freshName(), 'one');
const fail = (status: number) =>
  driver.harness.sandbox.directory.faults.add({
    effect: 'error',
    operation: 'metadata-token',
    status,
    code: 'canary',
  });

test.each([
  [429, 'throttled', 'too many requests'],
  [500, 'unavailable', 'the service is unavailable'],
  [503, 'unavailable', 'the service is unavailable'],
  [410, 'unavailable', 'the instance metadata is being updated'],
])(
  'cloudB-kv 11: while the instance metadata responds with %i, the fault is %s, and ends with it',
  async (status, kind, words) => {
    const connected = await connect();
    fail(status);
    await expect(driver.put(aPut(), connected)).rejects.toMatchObject({
      kind,
      message: `requesting a token: ${words} (status ${status})`,
    });
    driver.harness.clear();
    fail(400);
    await expect(driver.put(aPut(), connected)).rejects.toMatchObject({ kind: 'unauthenticated' });
  },
);

test.each(['garbage', 'huge', 'deep', 'redirect', 'many-headers', 'empty', 'cut-off', 'reset'] as const)(
  'cloudB-kv 11: instance metadata that answers with %s has no identity, in words of its own',
  async (effect) => {
    driver.harness.sandbox.directory.faults.add({ effect, operation: 'metadata-token' });
    await expect(driver.put(aPut(), await connect())).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: "requesting a token: neither the destination nor the worker's environment has credentials",
    });
    driver.harness.clear();
  },
);

test('cloudB-kv 11: a throttled instance metadata service says how long to wait', async () => {
  const { faults } = driver.harness.sandbox.directory;
  faults.add({ effect: 'throttle', operation: 'metadata-token', retryAfterSeconds: 7 });
  await expect(driver.put(aPut(), await connect())).rejects.toMatchObject({
    kind: 'throttled',
    retryAfterSeconds: 7,
  });
});
