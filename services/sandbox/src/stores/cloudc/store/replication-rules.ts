import { invalidArgument } from '../google-error.ts';
import type { Replication, Storage } from './secret.ts';

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
function requireLocation(location: string): void {
  if (!locations.has(location))
    throw invalidArgument('secret.replication', `Invalid location: ${location.slice(0, 64)}`);
}

/**
 * A regional secret is stored in its location, so it has no replication; other secrets have one, whose replicas have the keys
 * (https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.locations.secrets).
 * @throws GoogleError INVALID_ARGUMENT
 */
export function requireStorage({ location, replication, customerManagedEncryption }: Storage): void {
  if (location !== undefined) {
    requireLocation(location);
    if (replication !== undefined)
      throw invalidArgument('secret.replication', 'A regional secret must not have a replication.');
    return;
  }
  if (replication === undefined) throw invalidArgument('secret.replication', 'The replication is required.');
  if (customerManagedEncryption !== undefined)
    throw invalidArgument('secret.customer_managed_encryption', 'Only regional secrets have this field.');
  const places = locationsOf(replication);
  if (new Set(places).size < places.length)
    throw invalidArgument('secret.replication', 'Replica locations must be distinct.');
  for (const place of places) requireLocation(place);
}

/** The locations of an existing secret cannot be changed (https://cloud.google.com/secret-manager/docs/edit-secrets). */
export function requireSameLocations(present: Replication | undefined, sent: Replication | undefined): void {
  const isSame =
    present !== undefined &&
    sent !== undefined &&
    `${locationsOf(present).sort()}` === `${locationsOf(sent).sort()}`;
  if (!isSame) throw invalidArgument('secret.replication', 'The locations of a secret cannot be changed.');
}

const locationsOf = (replication: Replication): string[] =>
  'automatic' in replication ? [] : replication.userManaged.replicas.map(({ location }) => location);
