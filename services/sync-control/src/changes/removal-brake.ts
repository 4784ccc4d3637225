import type { Tx } from '@secrets/db';
import { countEntries } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import {
  approveRemovals,
  type BrakeRow,
  countMarked,
  holdRemovals,
  isRemovalApproved,
  lockBrake,
  recordEntryCount,
  recordRemoved,
  releaseHold,
} from '../queries/removal-brakes.ts';

/**
 * How much the sources of a destination may remove within an hour before the operator has to confirm it
 * (docs/conventions.md#511-changes-of-the-secret).
 */
export interface BrakeLimits {
  /** Fewer entries are always removed. */
  minEntries: number;
  /** Share of the destination's entries, 0 to 1. */
  share: number;
}

/** Returns whether the removal of this many of a destination's entries needs a confirmation. */
export const needsConfirmation = (
  removals: number,
  entries: number,
  { minEntries, share }: BrakeLimits,
): boolean => removals >= minEntries && removals > entries * share;

/** The brake of one process. */
export interface RemovalBrake {
  limits: BrakeLimits;
  log: Logger;
}

/** Entries that an association would lose because its secret or their keys are gone. */
interface SourceRemovals {
  destinationId: string;
  associationId: string;
  removals: number;
}

/**
 * Returns whether a source may remove entries now, and counts them if so. Otherwise, removals of the destination are held until
 * the operator confirms them. The association must be locked; the lock of the brake comes after it.
 */
export async function admitRemovals(
  tx: Tx,
  brake: RemovalBrake,
  { destinationId, associationId, removals }: SourceRemovals,
): Promise<boolean> {
  const state = await lockBrake(tx, destinationId);
  // Not earlier: it may have been approved, and counted, while this transaction waited for the lock.
  if (await isRemovalApproved(tx, associationId)) return true;
  if (state.isHeld) return false;
  const marked = await countMarked(tx, destinationId, { except: associationId });
  if (await holdIfTooMany(tx, brake, { destinationId, state, removals: marked + removals })) return false;
  await recordRemoved(tx, destinationId, removals);
  return true;
}

/** Holds removals of a destination if those that are marked are too many. */
export async function holdMarkedIfTooMany(tx: Tx, brake: RemovalBrake, destinationId: string): Promise<void> {
  const state = await lockBrake(tx, destinationId);
  if (state.isHeld) return;
  const removals = await countMarked(tx, destinationId);
  await holdIfTooMany(tx, brake, { destinationId, state, removals });
}

/**
 * Decides on the marks of a destination after every association was compared: approves their removal or holds it. Ends a hold
 * if nothing is missing any longer.
 */
export async function settleMarks(tx: Tx, brake: RemovalBrake, destinationId: string): Promise<void> {
  const state = await lockBrake(tx, destinationId);
  const removals = await countMarked(tx, destinationId);
  if (state.isHeld) {
    if (removals === 0) await releaseHold(tx, destinationId);
    return;
  }
  if (await holdIfTooMany(tx, brake, { destinationId, state, removals })) return;
  await approveRemovals(tx, destinationId);
  await recordRemoved(tx, destinationId, removals);
}

async function holdIfTooMany(
  tx: Tx,
  { limits, log }: RemovalBrake,
  { destinationId, state, removals }: { destinationId: string; state: BrakeRow; removals: number },
): Promise<boolean> {
  const inWindow = state.removed + removals;
  if (inWindow < limits.minEntries) return false; // spares the count
  const entries = state.entries ?? (await countEntriesOnce(tx, destinationId, state.removed));
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
