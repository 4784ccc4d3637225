import { hasCode } from '@secrets/sync-worker';
import type { VaultSecret } from '../api/vault-api.ts';
import type { Store } from './store.ts';

/** Finds a disabled secret, too, which the vault shows only without its value. */
export async function findAnyway({ api, signal }: Store, name: string): Promise<VaultSecret | undefined> {
  try {
    return await api.find(name, signal);
  } catch (error) {
    if (!hasCode(error, 'SecretDisabled')) throw error;
  }
  try {
    const properties = await api.propertiesOf(name, signal);
    return properties && { properties };
  } catch (error) {
    if (hasCode(error, 'SecretManagedByKeyVault')) return undefined;
    throw error;
  }
}
