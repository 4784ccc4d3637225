import { failedPrecondition, GoogleError, invalidArgument } from '../google-error.ts';
import type { Storage } from './secret.ts';

/** Full names of keys by the location that they are for; `global` is that of an automatic replication. */
export type KeysByPlace = Readonly<Record<string, string>>;

/**
 * The encryption keys. Every location, and `global`, has a key ring `sandbox` with the keys `sandbox` and `sandbox-other`, and
 * `sandbox-disabled`, which is disabled.
 */
export class EncryptionKeys {
  readonly #disabled = new Set<string>();

  disable(key: string): void {
    this.#disabled.add(key);
  }

  clear(): void {
    this.#disabled.clear();
  }

  /**
   * Requires keys of the location that they are for, in all replicas or in none
   * (https://cloud.google.com/secret-manager/docs/cmek; of a regional secret, that of the secret:
   * https://cloud.google.com/secret-manager/regional-secrets/create-secret-cmek-encryption#limitations).
   * @throws GoogleError
   */
  requireUsable(storage: Storage): void {
    const places = placesOf(storage);
    const keyed = places.filter(({ key }) => key !== undefined);
    if (keyed.length > 0 && keyed.length < places.length)
      throw invalidArgument('secret.replication', 'Either all replicas or none must have a key.');
    for (const { location, key = '' } of keyed) {
      requireLocationOf(key, location);
      this.#require(key, 'useToEncrypt');
    }
  }

  /** Requires the keys that a version was encrypted with: without them, its value cannot be read. */
  requireDecryption(keys: KeysByPlace): void {
    for (const key of Object.values(keys)) this.#require(key, 'useToDecrypt');
  }

  #require(key: string, permission: string): void {
    const [, ring, name] = /\/keyRings\/([^/]+)\/cryptoKeys\/([^/]+)$/.exec(key) ?? [];
    if (ring !== 'sandbox' || !/^sandbox(-other|-disabled)?$/.test(name ?? ''))
      throw new GoogleError(
        'PERMISSION_DENIED',
        `Permission 'cloudkms.cryptoKeyVersions.${permission}' denied on resource '${key.slice(0, 256)}' (or it may not exist).`,
      );
    if (name === 'sandbox-disabled' || this.#disabled.has(key))
      throw failedPrecondition(`${key} is not enabled, current state is: DISABLED.`);
  }
}

function requireLocationOf(key: string, location: string): void {
  const [, found] =
    /^projects\/[^/]+\/locations\/([^/]+)\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/.exec(key) ?? [];
  if (found !== location)
    throw invalidArgument('secret.replication', `The Cloud KMS key must be in the location ${location}.`);
}

function placesOf({ location, replication, customerManagedEncryption }: Storage) {
  if (replication === undefined)
    return [{ location: location ?? '', key: customerManagedEncryption?.kmsKeyName }];
  const places =
    'automatic' in replication
      ? [{ location: 'global', ...replication.automatic }]
      : replication.userManaged.replicas;
  return places.map(({ location: place, customerManagedEncryption: given }) => ({
    location: place,
    key: given?.kmsKeyName,
  }));
}

export const keysOf = (storage: Storage): KeysByPlace =>
  Object.fromEntries(
    placesOf(storage).flatMap(({ location, key }) => (key === undefined ? [] : [[location, key] as const])),
  );
