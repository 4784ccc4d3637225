import { seal } from '@secrets/seal';
import { hasCode, type InspectRequest, type Look } from '@secrets/sync-worker';
import type { Properties, VaultSecret } from '../api/vault-api.ts';
import { newestVersion } from './newest-version.ts';
import { belonging } from './ownership.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Reads the newest version, which comes with its value. A secret that is disabled counts as changed: its readers are refused. A
 * deleted secret that the vault keeps is absent.
 */
export async function inspectSecret(store: Store, request: InspectRequest): Promise<Look> {
  const { externalName: name } = request;
  const known = parseRemembered(request);
  const sentAtMs = Date.now();
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
    ...(known !== undefined &&
      (isUntouched || isSame) && { remote: asFound(known, found.properties, sentAtMs) }),
  };
}

/** Milliseconds after which a read shows every earlier change, and by which the vault's clock may be ahead of the worker's. */
const settledMs = 300_000;

/** Times are in whole seconds: while the last one is not over, or reads may be older, another change could have the same. */
function asFound(known: Remembered, { version, updatedOn }: Properties, sentAtMs: number): Remembered {
  const updatedMs = updatedOn?.getTime();
  const isSettled = updatedMs !== undefined && updatedMs < sentAtMs - settledMs;
  return { ...known, version, updated: isSettled ? updatedMs / 1_000 : null };
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
