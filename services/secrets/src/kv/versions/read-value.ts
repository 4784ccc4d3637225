import { decodeSecretData, notFound, type SecretData, versionAad } from '@secrets/domain';
import { decrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import type { VersionRow } from '../../queries/versions/find-version.ts';

interface ReadVersion {
  stored: VersionRow;
  /** Undefined if the version is deleted or destroyed. */
  value: Sealed<SecretData> | undefined;
}

/**
 * Reads a version; 0 is the newest one. Throws `not_found` if there is none.
 * @throws StaleMountError; `SealError` as `decryptVersion`
 */
export async function readValue(
  context: Context,
  mount: MountRef,
  path: string,
  version: number,
): Promise<ReadVersion> {
  const stored = await context.versions.find({ mount, path, version });
  if (stored === null) throw notFound();
  if (!stored.isReadable || stored.sealed === null) return { stored, value: undefined };
  const { versionId, sealed } = stored;
  return { stored, value: decryptVersion(context.keyRing, { mountId: mount.id, path, versionId, sealed }) };
}

/** An encrypted value and the identity of its row, with which it is authenticated. */
interface EncryptedVersion {
  mountId: string;
  path: string;
  versionId: string;
  sealed: Uint8Array;
}

/**
 * The value of a version.
 * @throws SealError if it is damaged, was moved, or is encrypted with an unknown key
 */
export const decryptVersion = (
  keyRing: KeyRing,
  { sealed, ...location }: EncryptedVersion,
): Sealed<SecretData> => seal(decodeSecretData(decrypt(keyRing, versionAad(location), sealed)));
