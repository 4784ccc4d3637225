import { type DestinationRef, destinationAddress } from '../destinations/destination-api.ts';
import type { SecretRef } from './association-api.ts';

/** Names contain slashes, so they are in the query. */
const query = ({ mount, secret_name }: SecretRef): string =>
  new URLSearchParams({ mount, secret: secret_name }).toString();

/** The page with the history of an association. */
export const historyAddress = (ref: DestinationRef, secret: SecretRef): string =>
  `${destinationAddress(ref, 'history')}?${query(secret)}`;

/** The page with the destinations of a secret. */
export const ofSecretAddress = (secret: SecretRef): string => `/associations/secret?${query(secret)}`;

/** Returns the secret that an address names. */
export const secretOf = (search: URLSearchParams): SecretRef => ({
  mount: search.get('mount') ?? '',
  secret_name: search.get('secret') ?? '',
});
