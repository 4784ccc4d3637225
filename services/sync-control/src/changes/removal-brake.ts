import type { Db, Tx } from '@secrets/db';
import { countEntries, countWanted } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import {
  approveRemovals,
  type BrakeRow,
  beginCounting,
  countMarked,
  endCounting,
  holdRemovals,
  lockBrake,
  recordEntryCount,
  recordRemoved,
  releaseHold,
} from '../queries/changes/removal-brakes.ts';
import { listDestinationsAtRest } from '../queries/changes/source-marks.ts';

/**
 * Limits on the removals within an hour that deleted secrets and keys cause in a destination; beyond them, the operator must
 * confirm (docs/conventions/sync.md#changes-of-the-secret).
 */
export interface BrakeLimits {
  /** Fewer entries than this are removed without a confirmation, unless they are all entries of the destination. */
  minEntries: number;
  /** Share of the destination's entries, 0 to 1. */
  share: number;
}

/** Emptying a destination with at least this many entries needs a confirmation. */
const smallestEmptied = 3;

/** Returns whether the removal of this many of a destination's entries needs a confirmation. */
export const needsConfirmation = (
  removals: number,
  entries: number,
  { minEntries, share }: BrakeLimits,
): boolean =>
  removals > entries * share &&
  (removals >= minEntries || (removals >= smallestEmptied && removals >= entries));

/** The brake of one process. */
export interface RemovalBrake {
  limits: BrakeLimits;
  log: Logger;
}

/**
 * Holds the removals of a destination if the current round of the reconciliation has already marked too many. They are approved
 * at the end of the round at the earliest.
 */
export async function holdMarkedIfTooMany(tx: Tx, brake: RemovalBrake, destinationId: string): Promise<void> {
  const state = await lockBrake(tx, destinationId);
  await beginCounting(tx, destinationId);
  if (state.isHeld) return;
  const { removals } = await countMarked(tx, destinationId);
  await holdIfTooMany(tx, brake, { destinationId, state, removals });
}

/**
 * Approves or holds the marked removals of a destination after all its associations were compared. Ends a hold if no source is
 * missing any longer.
 */
export async function settleMarks(tx: Tx, brake: RemovalBrake, destinationId: string): Promise<void> {
  const state = await lockBrake(tx, destinationId);
  await endCounting(tx, destinationId);
  const { removals, until } = await countMarked(tx, destinationId);
  if (state.isHeld) {
    if (removals === 0) await releaseHold(tx, destinationId);
    return;
  }
  if (until === null || (await holdIfTooMany(tx, brake, { destinationId, state, removals }))) return;
  await approveRemovals(tx, destinationId, until);
  await recordRemoved(tx, destinationId, removals);
}

/**
 * Decides on removals marked by events, once no further mark has followed for two seconds, so that the deletions of one cause,
 * such as a disabled mount, are counted together before the first external secret is removed.
 */
export async function settleEvents(db: Db, brake: RemovalBrake, isStopping: () => boolean): Promise<void> {
  for (const destinationId of await listDestinationsAtRest(db)) {
    if (isStopping()) return;
    await db.transaction(async (tx) => {
      const { isCounting } = await lockBrake(tx, destinationId);
      if (!isCounting) await settleMarks(tx, brake, destinationId);
    });
  }
}

async function holdIfTooMany(
  tx: Tx,
  { limits, log }: RemovalBrake,
  { destinationId, state, removals }: { destinationId: string; state: BrakeRow; removals: number },
): Promise<boolean> {
  const inWindow = state.removed + removals;
  if (inWindow < smallestEmptied) return false; // spares the count
  const entries =
    inWindow < limits.minEntries
      ? state.removed + (await countWanted(tx, destinationId, limits.minEntries))
      : (state.entries ?? (await countEntriesOnce(tx, destinationId, state.removed)));
  if (!needsConfirmation(inWindow, entries, limits)) return false;
  const { type: destinationType, name } = await holdRemovals(tx, destinationId);
  log.error(
    { destinationId, destinationType, name, removals, removed: state.removed, entries },
    'removals are held until the operator confirms them: the sources of too many entries are gone',
  );
  return true;
}

/** Counts what the destination had at the start of the window, once in each window. */
async function countEntriesOnce(tx: Tx, destinationId: string, removed: number): Promise<number> {
  const entries = (await countEntries(tx, destinationId)) + removed;
  await recordEntryCount(tx, destinationId, entries);
  return entries;
}
