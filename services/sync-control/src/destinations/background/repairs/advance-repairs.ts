import type { Db, Tx } from '@secrets/db';
import {
  contestEntries,
  countDue,
  countEntries,
  countUndecided,
  countWanted,
  hasRepairable,
  lockRepairable,
  repairEntries,
} from '@secrets/sync-entries';
import { logFailure } from '@secrets/telemetry';
import type { RemovalBrake } from '../../../changes/removal-brake.ts';
import {
  approveRepairs,
  endRepairs,
  forgetRepairs,
  holdRepairs,
  listDestinationsToRepair,
  lockRepairs,
  type RepairState,
  startPass,
} from '../../../queries/destinations/repairs.ts';
import { contestedError } from './contested.ts';
import { mustHold, neverHeld } from './repair-brake.ts';

interface Repairing {
  db: Db;
  /** Also the limits on repairs. */
  brake: RemovalBrake;
}

const pageSize = 200;

/** While this many entries of a destination are due, no page adds to them. */
const maxDue = 5_000;

/**
 * Has drifted external secrets pushed again, where the policy of their destination asks for it, page by page. What a look has
 * found stays recorded with its entry, and a page is recorded together with the puts that it requests, so a process may die at
 * any time. Safe in several processes.
 */
export async function advanceRepairs(repairing: Repairing, isStopping: () => boolean): Promise<void> {
  const { db, brake } = repairing;
  const advance = (id: string) => db.transaction((tx) => advanceOne(tx, repairing, id));
  for (const destinationId of await listDestinationsToRepair(db)) {
    try {
      while (!isStopping() && (await advance(destinationId)));
    } catch (error) {
      logFailure(brake.log, { error, destinationId }, 'the repairs of a destination failed; will be retried');
    }
  }
}

/** Decides about repairs, or makes a page of them. Returns whether there may be another one now. */
async function advanceOne(tx: Tx, repairing: Repairing, destinationId: string): Promise<boolean> {
  const state = await lockRepairs(tx, destinationId);
  if (state === undefined) return false;
  if (!state.isRepaired) await forgetRepairs(tx, destinationId);
  else if (state.isHeld) await releaseIfGone(tx, destinationId, state);
  else if (state.isRepairing) return repairSome(tx, destinationId, state.decisions);
  else if (state.isWanted) return decide(tx, repairing, { destinationId, state });
  return false;
}

async function releaseIfGone(tx: Tx, destinationId: string, { decisions }: RepairState): Promise<void> {
  if (!(await hasRepairable(tx, destinationId, decisions + 1))) await forgetRepairs(tx, destinationId);
}

interface Undecided {
  destinationId: string;
  state: RepairState;
}

/**
 * Repairs what was found, if it cannot be too much. Otherwise, nothing is repaired before everything in the destination was
 * looked at: then it is all repaired, or all held.
 */
async function decide(tx: Tx, repairing: Repairing, undecided: Undecided): Promise<boolean> {
  const { destinationId, state } = undecided;
  if (state.pass === 'running') return false;
  const decisions = state.decisions + 1;
  if (!(await hasRepairable(tx, destinationId, decisions))) {
    await forgetRepairs(tx, destinationId);
    return false;
  }
  if (!(await isSmall(tx, repairing, destinationId))) {
    if (state.pass === 'none') {
      await startPass(tx, destinationId);
      return false;
    }
    if (await holdIfTooMany(tx, repairing, undecided)) return false;
  }
  await approveRepairs(tx, destinationId);
  return repairSome(tx, destinationId, decisions);
}

async function isSmall(tx: Tx, { brake }: Repairing, destinationId: string): Promise<boolean> {
  const few = neverHeld(brake.limits);
  return (await countWanted(tx, destinationId, few + 1)) <= few;
}

async function holdIfTooMany(
  tx: Tx,
  { brake: { limits, log } }: Repairing,
  { destinationId, state: { decisions } }: Undecided,
): Promise<boolean> {
  const few = neverHeld(limits);
  if ((await countUndecided(tx, destinationId, decisions, few + 1)) <= few) return false; // spares the count
  const entries = await countEntries(tx, destinationId);
  const drifted = await countUndecided(tx, destinationId, decisions, entries);
  if (!mustHold(drifted, entries, limits)) return false;
  const { type: destinationType, name } = await holdRepairs(tx, destinationId);
  log.error(
    { destinationId, destinationType, name, drifted, entries },
    'repairs are held until the operator confirms them: too many external secrets were changed by somebody else',
  );
  return true;
}

/** Repairs a page of what was found before the decision with this number. */
async function repairSome(tx: Tx, destinationId: string, decisions: number): Promise<boolean> {
  if ((await countDue(tx, destinationId, maxDue)) === maxDue) return false;
  const entries = await lockRepairable(tx, destinationId, { decisions, limit: pageSize });
  const judged = entries.map((entry) => ({ id: entry.id, error: contestedError(entry) }));
  await contestEntries(
    tx,
    judged.flatMap(({ id, error }) => (error === undefined ? [] : { id, error })),
  );
  await repairEntries(
    tx,
    judged.flatMap(({ id, error }) => (error === undefined ? id : [])),
  );
  if (entries.length > 0) return true;
  if (!(await hasRepairable(tx, destinationId, decisions))) await endRepairs(tx, destinationId);
  return false;
}
