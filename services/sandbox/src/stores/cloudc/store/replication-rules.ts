import { failedPrecondition, GoogleError, invalidArgument } from '../google-error.ts';
import type { Replication } from './secret.ts';

/** https://cloud.google.com/secret-manager/docs/locations */
const locations: ReadonlySet<string> = new Set(
  `africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2
  asia-southeast1 asia-southeast2 australia-southeast1 australia-southeast2 europe-central2 europe-north1 europe-north2
  europe-southwest1 europe-west1 europe-west2 europe-west3 europe-west4 europe-west6 europe-west8 europe-west9 europe-west10
  europe-west12 me-central1 me-central2 me-west1 northamerica-northeast1 northamerica-northeast2 northamerica-south1
  southamerica-east1 southamerica-west1 us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3
  us-west4`.split(/\s+/),
);

/** @throws GoogleError INVALID_ARGUMENT */
export function requireLocation(location: string): void {
  if (!locations.has(location))
    throw invalidArgument('secret.replication', `Invalid location: ${location.slice(0, 64)}`);
}

/**
 * Requires keys of the location that they are for, `global` for an automatic replication, in all replicas or in none
 * (https://cloud.google.com/secret-manager/docs/cmek). The sandbox has the keys `sandbox` and `sandbox-disabled` in the key ring
 * `sandbox` of every location.
 * @throws GoogleError
 */
export function requireKeys(replication: Replication): void {
  const places =
    'automatic' in replication
      ? [{ location: 'global', ...replication.automatic }]
      : replication.userManaged.replicas;
  const keyed = places.filter(({ customerManagedEncryption: given }) => given !== undefined);
  if (keyed.length > 0 && keyed.length < places.length)
    throw invalidArgument('secret.replication', 'Either all replicas or none must have a key.');
  for (const { location, customerManagedEncryption: given } of keyed)
    requireKey(location, given?.kmsKeyName ?? '');
}

function requireKey(location: string, key: string): void {
  const [, keyLocation, ring, name] =
    /^projects\/[^/]+\/locations\/([^/]+)\/keyRings\/([^/]+)\/cryptoKeys\/([^/]+)$/.exec(key) ?? [];
  if (keyLocation !== location)
    throw invalidArgument('secret.replication', `The Cloud KMS key must be in the location ${location}.`);
  if (ring !== 'sandbox' || (name !== 'sandbox' && name !== 'sandbox-disabled'))
    throw new GoogleError(
      'PERMISSION_DENIED',
      `Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource '${key.slice(0, 256)}' (or it may not exist).`,
    );
  if (name === 'sandbox-disabled')
    throw failedPrecondition(`${key} is not enabled, current state is: DISABLED.`);
}
