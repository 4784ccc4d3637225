import type { Sql } from '@secrets/db';
import { findDescription, presentDestination } from '@secrets/destinations';
import { countFailedBeforeRetry } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import type { DestinationRow } from '../queries/destinations.ts';
import { heldRemovals } from '../queries/removal-brakes.ts';
import { decryptCredentials } from './stored-credentials.ts';

/**
 * Returns a stored destination for a response: its secret fields are masked. A purge, a retry of what failed and held
 * removals are shown while they last.
 */
export const presentStoredDestination = async (
  { db, keyRing, prefix }: Pick<Context, 'db' | 'keyRing' | 'prefix'>,
  row: DestinationRow,
) => ({
  ...presentDestination(findDescription(row.type), {
    name: row.name,
    settings: row.settings,
    credentialNames: Object.keys(decryptCredentials(keyRing, row)),
    prefix,
  }),
  ...presentPurge(row),
  ...(await presentRetry(db, row)),
  ...(await presentHeldRemovals(db, row)),
});

const presentPurge = ({ purgeInitiatedAt, purgeError }: DestinationRow) =>
  purgeInitiatedAt === null
    ? {}
    : { purge_initiated_at: purgeInitiatedAt.toISOString(), purge_error: purgeError ?? '' };

/** What remains is counted up to this number. */
const maxCounted = 10_000;

async function presentRetry(sql: Sql, { id, retryInitiatedAt }: DestinationRow) {
  if (retryInitiatedAt === null) return {};
  const remaining = await countFailedBeforeRetry(sql, id, maxCounted);
  return { retry_initiated_at: retryInitiatedAt.toISOString(), retry_remaining: remaining };
}

async function presentHeldRemovals(sql: Sql, { id }: DestinationRow) {
  const held = await heldRemovals(sql, id);
  if (held === undefined) return {};
  return { removals_held_at: held.heldAt.toISOString(), removals_held: held.entries };
}
