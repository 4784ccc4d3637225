import type { Sql } from '@secrets/db';
import { findDescription, presentDestination } from '@secrets/destinations';
import {
  countByDrift,
  countRepairable,
  countToPush,
  findRequestedInspection,
  type Installation,
  readInspectedAt,
  readInstallation,
} from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { countAssociations } from '../queries/associations/association-counts.ts';
import { countToReplan } from '../queries/associations/association-pages.ts';
import { findHeldRemovals } from '../queries/changes/removal-brakes.ts';
import type { DestinationRow } from '../queries/destinations/destinations.ts';
import { listHeldRepairs } from '../queries/destinations/repairs.ts';
import { countToRetry } from './background/retry-failed.ts';
import { decryptCredentials } from './stored-credentials.ts';

/**
 * Returns a stored destination as responses show it, with masked secret fields. Includes work on the whole destination and held
 * removals that are in progress: since when, how much remains, and why the last page failed; and what looks have found.
 * @param installation as far as it was read already
 */
export const readStoredDestination = async (
  { db, keyRing, prefix }: Pick<Context, 'db' | 'keyRing' | 'prefix'>,
  row: DestinationRow,
  installation?: Pick<Installation, 'heldBecause'>,
) => ({
  ...presentDestination(findDescription(row.type), {
    name: row.name,
    settings: row.settings,
    given: row.given,
    credentialNames: Object.keys(decryptCredentials(keyRing, row)),
    prefix,
  }),
  ...(row.scopeId === null ? {} : { scope_id: row.scopeId }),
  ...(await purgeProgress(db, row)),
  ...(await retryProgress(db, row)),
  ...(await pushProgress(db, row)),
  ...(await replanProgress(db, row)),
  ...(await inspectionProgress(db, row)),
  ...(row.backgroundError === null ? {} : { background_error: row.backgroundError }),
  ...heldSyncing(installation ?? (await readInstallation(db))),
  ...(await heldRemovals(db, row)),
  ...(await heldRepairs(db, row)),
  ...(await looks(db, row)),
});

/** Remaining entries and associations are counted up to this number. */
const maxCounted = 10_000;

async function purgeProgress(sql: Sql, { id, purgeInitiatedAt, purgeKeeps, purgeError }: DestinationRow) {
  if (purgeInitiatedAt === null) return {};
  return {
    purge_initiated_at: purgeInitiatedAt.toISOString(),
    purge_remaining: await countAssociations(sql, id, maxCounted),
    purge_error: purgeError ?? '',
    ...(purgeKeeps && { purge_keep: true }),
  };
}

async function retryProgress(sql: Sql, { id, retryInitiatedAt, retryAll }: DestinationRow) {
  if (retryInitiatedAt === null) return {};
  const remaining = await countToRetry(sql, id, { all: retryAll }, maxCounted);
  return { retry_initiated_at: retryInitiatedAt.toISOString(), retry_remaining: remaining };
}

async function pushProgress(sql: Sql, { id, pushInitiatedAt, pushPosition }: DestinationRow) {
  if (pushInitiatedAt === null) return {};
  const remaining = await countToPush(sql, id, pushPosition, maxCounted);
  return { push_initiated_at: pushInitiatedAt.toISOString(), push_remaining: remaining };
}

/** Returns the fields about a replan. Its refusals remain visible until the next one. */
async function replanProgress(sql: Sql, row: DestinationRow) {
  const { id, replanInitiatedAt, replanPosition, replanRefused, replanError } = row;
  const refused =
    replanRefused === 0 ? {} : { replan_refused: replanRefused, replan_error: replanError ?? '' };
  if (replanInitiatedAt === null) return refused;
  const remaining = await countToReplan(sql, id, replanPosition, maxCounted);
  return { replan_initiated_at: replanInitiatedAt.toISOString(), replan_remaining: remaining, ...refused };
}

async function inspectionProgress(sql: Sql, { id }: DestinationRow) {
  const requested = await findRequestedInspection(sql, id);
  if (requested === undefined) return {};
  const remaining = await countToPush(sql, id, requested.position, maxCounted);
  return { inspect_initiated_at: requested.requestedAt.toISOString(), inspect_remaining: remaining };
}

/** The cause for which syncing is held in the whole installation, so that nothing is sent to this destination, either. */
const heldSyncing = ({ heldBecause }: Pick<Installation, 'heldBecause'>) =>
  heldBecause === null ? {} : { held_because: heldBecause };

async function heldRemovals(sql: Sql, { id }: DestinationRow) {
  const held = await findHeldRemovals(sql, id);
  if (held === undefined) return {};
  return { removals_held_at: held.heldAt.toISOString(), removals_held: held.entries };
}

async function heldRepairs(sql: Sql, { id }: DestinationRow) {
  const [held] = await listHeldRepairs(sql, [id]);
  if (held === undefined) return {};
  const repairs = await countRepairable(sql, id, held.decisions, maxCounted);
  return { repairs_held_at: held.heldAt.toISOString(), repairs_held: repairs };
}

async function looks(sql: Sql, { id }: DestinationRow) {
  const inspectedAt = await readInspectedAt(sql, id);
  const drifted = await countByDrift(sql, [id], maxCounted);
  return {
    ...(inspectedAt !== null && { inspected_at: inspectedAt.toISOString() }),
    ...(drifted.length > 0 && {
      drifted: Object.fromEntries(drifted.map(({ drift, count }) => [drift, count])),
    }),
  };
}
