import { findDescription, presentDestination } from '@secrets/destinations';
import type { Context } from '../context.ts';
import type { DestinationRow } from '../queries/destinations.ts';
import { decryptCredentials } from './stored-credentials.ts';

/** A stored destination in responses: its secret fields are masked, and a purge is shown while it takes place. */
export const presentStoredDestination = (
  { keyRing, prefix }: Pick<Context, 'keyRing' | 'prefix'>,
  row: DestinationRow,
) => ({
  ...presentDestination(findDescription(row.type), {
    name: row.name,
    settings: row.settings,
    credentialNames: Object.keys(decryptCredentials(keyRing, row)),
    prefix,
  }),
  ...presentPurge(row),
});

const presentPurge = ({ purgeInitiatedAt, purgeError }: DestinationRow) =>
  purgeInitiatedAt === null
    ? {}
    : { purge_initiated_at: purgeInitiatedAt.toISOString(), purge_error: purgeError ?? '' };
