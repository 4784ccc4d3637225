import { afterEach, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

// own modules: the SDK remembers where it found the managed identity.

// Not beside the tests of managed identities: the SDK keeps what it found out about the environment.
const variable = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';
const driver = useDriver();
afterEach(() => {
  delete process.env[variable];
});

test('cloudB-kv 11: without a client secret and without an identity of the worker, a destination is unauthenticated', async () => {
  process.env[variable] = 'http://127.0.0.1:9';
  for (const client_id of ['', 'some-identity']) {
    const over = { credentials: seal({}), settings: { client_id } };
    const connected = driver.keep(await driver.harness.connect(over));
    await expect(driver.put(putRequest(driver.harness.freshName(), 'x'), connected)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: "requesting a token: neither the destination nor the worker's environment has credentials",
    });
  }
});
