import { randomUUID } from 'node:crypto';
import {
  type ImportGrant,
  invalid,
  isJsonObject,
  originKey,
  Problem,
  parseExactly,
  SecretData,
} from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import type { Context } from '../../context.ts';
import { type MountRef, StaleMountError } from '../../mounts/mount-ref.ts';
import { upsertMetadata } from '../../queries/metadata.ts';
import { findMount } from '../../queries/mounts/mounts.ts';
import { insertVersion, type WrittenVersion } from '../../queries/versions/insert-version.ts';
import { readValue } from './read-value.ts';
import { encryptVersion, notifyIfWatched } from './save-version.ts';

const maxOriginBytes = 512;
const maxMetadataKeys = 64;

/**
 * Writes the version that sync-control has permitted, with its origin in the custom metadata. With a key, the other keys of the
 * newest version stay. Throws `conflict` if the secret was written since, or the mount is gone, `invalid` if the text cannot be
 * the value of a secret or the metadata has no room, `too_large` if the value exceeds 1 MiB.
 */
export async function importVersion(
  context: Context,
  grant: ImportGrant,
  text: Sealed<string>,
): Promise<WrittenVersion> {
  const found = await findMount(context.db, grant.namespace_id, grant.mount);
  if (found === undefined) throw mountGone();
  const mount = { id: found.id, namespaceId: grant.namespace_id, path: found.path };
  try {
    const value = await importedValue(context, mount, grant, text);
    return notifyIfWatched(context, await write(context, mount, grant, value));
  } catch (error) {
    throw error instanceof StaleMountError ? mountGone() : error;
  }
}

const mountGone = () => new Problem('conflict', 'the mount of the import no longer exists');

async function importedValue(
  context: Context,
  mount: MountRef,
  { path, cas, key }: ImportGrant,
  text: Sealed<string>,
): Promise<Sealed<SecretData>> {
  if (key === null) return seal(dataOf(parsed(text)));
  if (cas === 0) return seal(dataOf({ [key]: text.reveal() }));
  const { stored, value } = await readValue(context, mount, path, 0);
  if (stored.currentVersion !== cas) throw overtaken();
  return seal(dataOf({ ...value?.reveal(), [key]: text.reveal() }));
}

/** The error of the parser quotes the text, so it is dropped. */
function parsed(text: Sealed<string>): unknown {
  try {
    return parseExactly(text.reveal());
  } catch {
    return undefined;
  }
}

function dataOf(value: unknown): SecretData {
  const { success, data } = SecretData.safeParse(value);
  if (!success)
    throw invalid(
      isJsonObject(value) ? 'it has more values or levels than a secret may have' : 'it is not a JSON object',
    );
  return data;
}

const overtaken = () => new Problem('conflict', 'the secret was written during the import');

const write = (
  context: Context,
  mount: MountRef,
  { path, cas, origin }: ImportGrant,
  value: Sealed<SecretData>,
): Promise<WrittenVersion> => {
  const grants = { mayCreate: cas === 0, mayUpdate: cas > 0 };
  const version = { ...encryptVersion(context, mount, path, value), ...grants, cas, onlyIf: null };
  return context.db.transaction(async (tx) => {
    const written = await insertVersion(tx, mount, path, version);
    if (written === undefined) throw overtaken();
    const customMetadata = originMetadata(written.customMetadata, origin);
    const ofExisting = { secretId: randomUUID(), mayCreate: false, mayUpdate: true, onlyIf: null };
    await upsertMetadata(tx, mount, path, { customMetadata }, ofExisting);
    return { ...written, customMetadata };
  });
};

/** Adds the origin to the custom metadata of a secret. Throws `invalid` if that has no room. */
export function originMetadata(
  existing: Record<string, string> | null,
  origin: string,
): Record<string, string> {
  const metadata = { ...existing, [originKey]: cutToBytes(origin, maxOriginBytes) };
  if (Object.keys(metadata).length > maxMetadataKeys)
    throw invalid(
      `its path has ${maxMetadataKeys} keys of custom_metadata already, so none can name the origin`,
    );
  return metadata;
}

/** Cuts before a character that does not fit whole. */
const cutToBytes = (text: string, maxBytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes)).replace(/\uFFFD$/, '');
