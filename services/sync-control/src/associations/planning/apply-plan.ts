import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import {
  type Entry,
  entriesOf,
  handOverEntries,
  insertEntries,
  isPending,
  type NewEntry,
  type Origin,
  recordReplacements,
  requestPut,
  requestRemoval,
} from '@secrets/sync-entries';
import { keepFormerNames } from './keep-former-names.ts';
import { type EntryPlan, planEntries } from './plan-entries.ts';
import { takenNames } from './taken-names.ts';
import { maxEntries } from './wanted-entries.ts';

export interface PlannedAssociation {
  id: string;
  destinationId: string;
  destinationType: string;
}

export interface PlanIntent {
  overwrite: boolean;
  verify: boolean;
  /** The problem to throw if the queue would grow; undefined if it has room. */
  full?: Problem | undefined;
  /** Where the intent comes from; by default, from a user. */
  origin?: Origin;
  /** Whether entries that are no longer wanted are removed; otherwise they stay as they are. */
  mayRemove?: boolean;
  /** Whether what is removed stays recoverable where the store has a recovery window. */
  isRecoverable?: boolean;
}

/**
 * Writes the intents that turn an association's entries into the wanted ones. Entries that stay, or that another key
 * takes over, are pushed again. The association's row must be locked. Throws `conflict`, which names both secrets, if a
 * name is taken, and which names the limit if the association would have too many entries.
 */
export async function applyPlan(
  tx: Tx,
  association: PlannedAssociation,
  wanted: readonly NewEntry[],
  intent: PlanIntent,
): Promise<void> {
  const existing = await entriesOf(tx, [association.id]);
  const plan = planEntries(existing, keepFormerNames(existing, wanted));
  if (intent.full !== undefined && (plan.create.length > 0 || !existing.every(isPending))) throw intent.full;
  const tooMany = whyTooManyEntries(existing.length, plan.create.length);
  if (tooMany !== undefined) throw new Problem('conflict', tooMany);
  await requireFreeNames(tx, association, plan.create);
  const created = await insertEntries(tx, association, plan.create, intent);
  await requestPut(tx, plan.keep, intent);
  await handOverEntries(tx, plan.handOver, intent);
  const idOfKey = idsOfWanted(plan, existing, created);
  const outgoing = plan.drop.map(({ id, after }) => ({
    id,
    waitsFor: after === null ? null : (idOfKey.get(after) ?? null),
  }));
  // The next plan does not see any more what this change has added.
  if (intent.mayRemove === false) return recordReplacements(tx, outgoing);
  await requestRemoval(tx, outgoing, intent);
}

function idsOfWanted(
  { keep, handOver }: EntryPlan,
  existing: readonly Entry[],
  created: readonly Entry[],
): Map<string, string> {
  const keeps = new Set(keep);
  const kept = existing.filter(({ id }) => keeps.has(id));
  return new Map([...kept, ...handOver, ...created].map(({ subKey, id }) => [subKey, id]));
}

/** Returns undefined if an association may have these entries. */
export function whyTooManyEntries(existing: number, created: number): string | undefined {
  if (created === 0 || existing + created <= maxEntries) return undefined;
  return (
    `the association has ${existing} external secrets, including those still to be removed, and needs ${created} more; ` +
    `the maximum is ${maxEntries}: set it again when the old ones are removed`
  );
}

async function requireFreeNames(
  tx: Tx,
  association: PlannedAssociation,
  create: readonly NewEntry[],
): Promise<void> {
  const [sentence] = (await takenNames(tx, association.destinationId, create)).values();
  if (sentence !== undefined) throw new Problem('conflict', sentence);
}
