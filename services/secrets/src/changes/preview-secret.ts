import { comparedText, invalid, pushedText, pushedValuePurpose, type SecretData } from '@secrets/domain';
import { type KeyRing, keyedHash } from '@secrets/seal';
import type { Context } from '../context.ts';
import { decryptVersion } from '../kv/versions/read-value.ts';
import { findMount } from '../queries/mounts/mounts.ts';
import { findSecretId, findSecrets, type InspectedRow, isFolder } from '../queries/watch.ts';
import type { Watched, WatchRequest } from './watch-secret.ts';

/** Returns what `watchSecret` returns, without subscribing to changes: writes nothing. */
export async function previewSecret(
  { db }: Context,
  { namespaceId, mountPath, path }: WatchRequest,
): Promise<Watched> {
  const mount = await findMount(db, namespaceId, mountPath);
  if (mount === undefined) throw invalid(`mount: no key-value store is mounted at ${mountPath}`);
  const secretId = await findSecretId(db, mount.id, path);
  if (secretId === undefined)
    return { mount, secretId, row: undefined, isFolder: await isFolder(db, mount.id, path) };
  const [row] = await findSecrets(db, [secretId]);
  return { mount, secretId, row, isFolder: false };
}

/**
 * The sizes in UTF-8 bytes of what is pushed of a secret: of the whole, and of each of its top-level keys, in their order.
 * @throws SealError if the value cannot be decrypted
 */
export function pushedSizes(keyRing: KeyRing, row: InspectedRow | undefined) {
  const value = decryptedValue(keyRing, row);
  if (value === undefined) return { value_bytes: 0, key_bytes: [] };
  return {
    value_bytes: Buffer.byteLength(pushedText(value)),
    key_bytes: Object.values(value).map((of) => Buffer.byteLength(pushedText(of))),
  };
}

/**
 * The keyed hashes of what is pushed of a secret, which a worker compares with what is in a store: of the whole, and of each of
 * its top-level keys, in their order.
 * @throws SealError if the value cannot be decrypted
 */
export function pushedHashes(keyRing: KeyRing, row: InspectedRow | undefined) {
  const value = decryptedValue(keyRing, row);
  if (value === undefined) return { value_hash: '', key_hashes: [] };
  const hashOf = (of: unknown) => keyedHash(keyRing, pushedValuePurpose, comparedText(of));
  return { value_hash: hashOf(value), key_hashes: Object.values(value).map(hashOf) };
}

function decryptedValue(keyRing: KeyRing, row: InspectedRow | undefined): SecretData | undefined {
  if (!row || row.versionId === null || row.sealed === null) return undefined;
  const { mountId, path, versionId, sealed } = row;
  return decryptVersion(keyRing, { mountId, path, versionId, sealed }).reveal();
}
