import type { KeyRing } from '@secrets/seal';
import { requireRecordedKeys } from '@secrets/seal-rotation';
import { ArchiveError } from './archive/archive-error.ts';
import type { Manifest, SchemaName } from './archive/manifest.ts';
import { schemaNames } from './database/describe-database.ts';

/** The keys in each file. */
export type KeyFiles = ReadonlyMap<string, KeyRing>;

/** The key file that opens what each schema has sealed. */
export type SealKeys = Record<SchemaName, KeyRing>;

/**
 * Finds the key file of each schema by the fingerprints in the manifest.
 * @param files the key files of login, secrets and sync-control, in any order; standalone has one for all
 * @throws {ArchiveError} if no file has the keys of a schema
 */
export function findSealKeys(files: KeyFiles, { sealKeys }: Pick<Manifest, 'sealKeys'>): SealKeys {
  const rings = [...files.values()];
  const found = schemaNames.map((schema) => {
    const ring = rings.find((one) => hasKeys(one, schema, sealKeys[schema]));
    if (ring === undefined) throw wrongKeys([...files.keys()], schema, sealKeys[schema]);
    return [schema, ring] as const;
  });
  return Object.fromEntries(found) as SealKeys;
}

function hasKeys(ring: KeyRing, schema: SchemaName, recorded: Manifest['sealKeys'][SchemaName]): boolean {
  try {
    requireRecordedKeys(ring, schema, recorded);
    return true;
  } catch {
    return false;
  }
}

const wrongKeys = (
  files: readonly string[],
  schema: SchemaName,
  keys: Manifest['sealKeys'][SchemaName],
): ArchiveError =>
  new ArchiveError(
    `the seal keys of the schema ${schema} (${keys.map(({ id }) => id).join(', ')}) are not those in ${files.join(', ')}: ` +
      'put back the key files that belong to this data',
  );
