import type { KeyRing } from '@secrets/seal';
import { decryptVersion } from '../kv/versions/read-value.ts';
import type { InspectedRow } from '../queries/watch.ts';

/**
 * The state of a secret for sync-control: names of keys, never values. Without a row the secret does not exist, which includes
 * that its mount is disabled. `revision` grows with every change.
 * @throws SealError if the value cannot be decrypted
 */
export const presentSecretState = (
  keyRing: KeyRing,
  secretId: string | null,
  row: InspectedRow | undefined,
) => ({
  secret_id: secretId,
  exists: row !== undefined,
  readable: row !== undefined && row.version !== null,
  newest_readable_version: row?.version ?? null,
  revision: row?.revision ?? 0,
  keys: row === undefined ? [] : topLevelKeys(keyRing, row),
  mount_path: row?.mountPath ?? null,
  secret_name: row?.path ?? null,
});

function topLevelKeys(keyRing: KeyRing, { mountId, path, versionId, sealed }: InspectedRow): string[] {
  if (versionId === null || sealed === null) return [];
  return Object.keys(decryptVersion(keyRing, { mountId, path, versionId, sealed }).reveal());
}
