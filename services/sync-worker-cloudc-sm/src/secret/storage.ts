import { isDeepStrictEqual } from 'node:util';
import type { CloudCSettings } from '@secrets/destinations';
import type { Secret, Version } from '../api/schema.ts';
import type { Encryption, Storage } from '../api/secret-manager-api.ts';

/** Full names of keys by location; that of an automatic replication is `global`. */
export type KeysByPlace = Readonly<Record<string, string>>;

type Settings = Pick<
  CloudCSettings,
  'location' | 'replication_locations' | 'global_kms_key' | 'locational_kms_keys'
>;

const encryptedWith = (kmsKeyName = ''): Encryption =>
  kmsKeyName === '' ? {} : { customerManagedEncryption: { kmsKeyName } };

/** Where new secrets are stored, and with which keys: regional ones are in their location, others have a replication. */
export const wantedStorage = (settings: Settings): Storage => storageWith(settings, wantedKeys(settings));

/** The storage of the destination's locations with these keys. */
export function storageWith(
  { location, replication_locations: locations }: Settings,
  keys: KeysByPlace,
): Storage {
  if (location !== '') return encryptedWith(keys[location]);
  if (locations.length === 0) return { replication: { automatic: encryptedWith(keys.global) } };
  const replicas = locations.map((place) => ({ location: place, ...encryptedWith(keys[place]) }));
  return { replication: { userManaged: { replicas } } };
}

export function wantedKeys({ location, replication_locations: locations, ...keys }: Settings): KeysByPlace {
  const { global_kms_key, locational_kms_keys } = keys;
  if (location === '' && locations.length === 0)
    return global_kms_key === '' ? {} : { global: global_kms_key };
  return locational_kms_keys;
}

/** The keys of a secret. */
export function keysOf({ location, replication, customerManagedEncryption }: Secret): KeysByPlace {
  const { automatic, userManaged } = replication ?? {};
  return namesByPlace([
    { location: location ?? '', customerManagedEncryption },
    ...(automatic ? [{ location: 'global', ...automatic }] : []),
    ...(userManaged?.replicas ?? []),
  ]);
}

const namesByPlace = (
  places: readonly {
    location: string;
    customerManagedEncryption?: { kmsKeyName: string } | null | undefined;
  }[],
): KeysByPlace =>
  Object.fromEntries(
    places.flatMap(({ location, customerManagedEncryption: encryption }) =>
      encryption ? [[location, encryption.kmsKeyName] as const] : [],
    ),
  );

/** The locations of the replicas, sorted; empty for an automatic replication and a regional secret. */
export const locationsOf = ({ replication }: Secret): string[] =>
  (replication?.userManaged?.replicas ?? []).map(({ location }) => location).sort();

/** Whether a version is encrypted with exactly these keys, as far as it shows. */
export const isEncryptedWith = ({ keyVersions }: Version, keys: KeysByPlace): boolean =>
  keyVersions === undefined ||
  isDeepStrictEqual(
    keyVersions.map((name) => name.replace(/\/cryptoKeyVersions\/[^/]*$/, '')).sort(),
    Object.values(keys).sort(),
  );
