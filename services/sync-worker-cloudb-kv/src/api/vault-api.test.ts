import type { SecretClient } from '@azure/keyvault-secrets';
import { expect, test } from '@jest/globals';
import { VaultApi } from './vault-api.ts';

const expiresOn = new Date('2027-06-01T00:00:00Z');
const sent = { tags: { team: 'a' }, contentType: 'text/plain', expiresOn };

/** A vault that stores a secret otherwise than it was sent. */
const vaultThatStores = (properties: object, value = 'one') =>
  new VaultApi(
    () =>
      ({
        setSecret: async () => ({ value, properties: { version: '1', ...sent, ...properties } }),
        updateSecretProperties: async () => ({ version: '1', ...sent, ...properties }),
      }) as unknown as SecretClient,
  );

const calls = {
  set: (api: VaultApi) => api.set('name', 'one', sent, AbortSignal.timeout(60_000)),
  update: (api: VaultApi) => api.update('name', sent, AbortSignal.timeout(60_000)),
};

test.each([
  [{ tags: {} }, 'without its tags'],
  [{ contentType: undefined }, 'with another content type or date'],
  [{ expiresOn: undefined }, 'with another content type or date'],
  [{ expiresOn: new Date('2028-06-01T00:00:00Z') }, 'with another content type or date'],
])('the answer of a write is compared with what was sent: %j', async (stored, reason) => {
  for (const call of Object.values(calls))
    await expect(call(vaultThatStores(stored))).rejects.toMatchObject({
      kind: 'not_ready',
      message: `Set: the vault has stored the secret ${reason}`,
    });
});

test('the value in the answer is compared, too', async () => {
  await expect(calls.set(vaultThatStores({}, 'other'))).rejects.toMatchObject({
    kind: 'not_ready',
    message: 'Set: the vault has stored another value',
  });
  expect(await calls.set(vaultThatStores({}))).toBe('1');
});
