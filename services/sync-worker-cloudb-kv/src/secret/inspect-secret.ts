import { seal } from '@secrets/seal';
import { hasCode, type InspectRequest, type Look } from '@secrets/sync-worker';
import type { VaultSecret } from '../api/vault-api.ts';
import { newestVersion } from './newest-version.ts';
import { belonging } from './ownership.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Reads the newest version, which comes with its value. A secret that is disabled counts as changed: its readers are refused. A
 * deleted secret that the vault keeps is absent.
 */
export async function inspectSecret(store: Store, request: InspectRequest): Promise<Look> {
  const { externalName: name } = request;
  const known = parseRemembered(request);
  const found = await find(store, name);
  if (found === undefined) return { exists: false };
  const { version, updatedOn } = found.properties;
  const text = found.value;
  const isUntouched = text !== undefined && version === known?.version;
  const isSame = !isUntouched && text !== undefined && request.isSameValue(seal(text));
  return {
    exists: true,
    belongs: await belonging(store, name, { found, known }),
    mark: version,
    ...(known !== undefined && { pushedMark: known.version }),
    isUntouched,
    value: isUntouched || text === undefined ? 'unread' : isSame ? 'same' : 'different',
    changedAt: updatedOn ?? null,
    ...(isSame && known !== undefined && { remote: { ...known, version } }),
  };
}

/** Unlike `findAnyway`, it sends no update to find a disabled secret. */
async function find(store: Store, name: string): Promise<VaultSecret | undefined> {
  try {
    return await store.api.find(name, store.signal);
  } catch (error) {
    if (!hasCode(error, 'SecretDisabled')) throw error;
  }
  return { properties: await newestVersion(store, name) };
}
