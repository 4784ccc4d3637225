import type { CloudCSettings } from '@secrets/destinations';
import type { Secret } from '../api/schema.ts';
import type { Encryption, Replication } from '../api/secret-manager-api.ts';

const encryptedWith = (kmsKeyName = ''): Encryption =>
  kmsKeyName === '' ? {} : { customerManagedEncryption: { kmsKeyName } };

/** The replication of new secrets. */
export function wantedReplication({
  replication_locations: locations,
  global_kms_key: key,
  locational_kms_keys: keys,
}: CloudCSettings): Replication {
  if (locations.length === 0) return { automatic: encryptedWith(key) };
  return {
    userManaged: { replicas: locations.map((location) => ({ location, ...encryptedWith(keys[location]) })) },
  };
}

/** The keys of a replication by location, the one of an automatic replication as that of `global`. */
export function keysOf(replication: Secret['replication']): Record<string, string> {
  const { automatic, userManaged } = replication ?? {};
  const replicas = [
    ...(automatic ? [{ location: 'global', ...automatic }] : []),
    ...(userManaged?.replicas ?? []),
  ];
  return Object.fromEntries(
    replicas.flatMap(({ location, customerManagedEncryption: encryption }) =>
      encryption ? [[location, encryption.kmsKeyName] as const] : [],
    ),
  );
}
