import type { KeyRing } from '@secrets/seal';
import { openVersion } from './open-version.ts';
import type { InspectedRow } from './queries/watch.ts';

/**
 * How a secret stands, for sync-control: names of keys, never values. Without a row it does not exist, which includes
 * that its mount is disabled. `revision` grows with every change.
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
  return Object.keys(openVersion(keyRing, { mountId, path, versionId, sealed }).reveal());
}
