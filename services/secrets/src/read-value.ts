import { notFound, type SecretData } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { Context } from './context.ts';
import type { MountRef } from './known-mounts.ts';
import { openVersion } from './open-version.ts';
import { readVersion, type StoredVersion } from './queries/read-version.ts';

/** A version that was found, and its value unless it is deleted or destroyed. */
export interface ReadVersion {
  stored: StoredVersion;
  value: Sealed<SecretData> | undefined;
}

/** Reads a version, 0 being the newest. Throws `not_found` when there is none. */
export async function readValue(
  context: Context,
  mount: MountRef,
  path: string,
  version: number,
): Promise<ReadVersion> {
  const stored = await readVersion(context.db, mount, path, version);
  if (stored === undefined) throw notFound();
  if (!stored.isReadable || stored.sealed === null) return { stored, value: undefined };
  const { versionId, sealed } = stored;
  return { stored, value: openVersion(context.keyRing, { mountId: mount.id, path, versionId, sealed }) };
}
