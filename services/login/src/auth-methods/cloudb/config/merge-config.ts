import { encrypt, type KeyRing } from '@secrets/seal';
import { changingMount } from '../../../queries/auth-mounts.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { configOfMount, type StoredConfig, saveConfig } from '../queries/configs.ts';
import { type ConfigPatch, type ConfigSettings, mergedConfig } from './config-settings.ts';

/**
 * Merges a request into the stored configuration, and drops the cached keys of the tenants before and after.
 * @param check throws if the change is not allowed, given what is stored
 */
export async function mergeConfig(
  context: CloudBContext,
  mountId: string,
  body: ConfigPatch,
  check: (stored: StoredConfig | undefined) => void,
): Promise<ConfigSettings> {
  const [before, settings] = await changingMount(context.db, mountId, async (tx) => {
    const stored = await configOfMount(tx, mountId);
    check(stored);
    const merged = mergedConfig(stored, body);
    await saveConfig(tx, mountId, merged, sealedSecret(context.keyRing, mountId, body.client_secret));
    return [stored, merged];
  });
  if (before !== undefined) context.directory.forget(before.settings);
  context.directory.forget(settings);
  return settings;
}

/** The sealed secret, bound to its row; null deletes the stored one, undefined keeps it. */
function sealedSecret(
  keyRing: KeyRing,
  mountId: string,
  secret: string | null | undefined,
): Buffer | null | undefined {
  if (secret === undefined) return undefined;
  return secret === '' || secret === null
    ? null
    : encrypt(keyRing, clientSecretAad(mountId), Buffer.from(secret));
}

const clientSecretAad = (mountId: string): string => `login.cloudb_configs ${mountId} client_secret`;
