import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import {
  type Entry,
  entriesOf,
  insertEntries,
  isPending,
  type NewEntry,
  type Origin,
  requestPut,
  requestRemoval,
} from '@secrets/sync-entries';
import { planEntries } from './plan-entries.ts';
import { takenNames } from './taken-names.ts';
import { maxEntries } from './wanted-entries.ts';

/** The association whose entries are planned. */
export interface PlannedAssociation {
  id: string;
  destinationId: string;
  destinationType: string;
}

/** How the entries are written. */
export interface PlanIntent {
  overwrite: boolean;
  verify: boolean;
  /** The problem to throw if the queue would grow; undefined if it has room. */
  full?: Problem | undefined;
  /** Where the intent comes from; by default, from a user. */
  origin?: Origin;
  /** Whether entries that are no longer wanted are removed; otherwise they stay as they are. */
  mayRemove?: boolean;
}

/**
 * Writes the intents that turn an association's entries into the wanted ones. Entries that stay are pushed again. The
 * association's row must be locked. Throws `conflict`, which names both secrets, if a name is taken, and which names the limit
 * if the association would have too many entries.
 */
export async function applyPlan(
  tx: Tx,
  association: PlannedAssociation,
  wanted: readonly NewEntry[],
  intent: PlanIntent,
): Promise<void> {
  const existing = await entriesOf(tx, [association.id]);
  const plan = planEntries(existing, wanted);
  if (intent.full !== undefined && (plan.create.length > 0 || !existing.every(isPending))) throw intent.full;
  const tooMany = whyTooManyEntries(existing.length, plan.create.length);
  if (tooMany !== undefined) throw new Problem('conflict', tooMany);
  await requireFreeNames(tx, association, plan.create);
  const created = await insertEntries(tx, association, plan.create, intent);
  await requestPut(tx, plan.keep, intent);
  if (intent.mayRemove === false) return;
  const idOfKey = idsOfWanted(plan.keep, existing, created);
  await requestRemoval(
    tx,
    plan.drop.map(({ id, replacedBy }) => ({
      id,
      waitsFor: replacedBy === null ? null : (idOfKey.get(replacedBy) ?? null),
    })),
    intent.origin,
  );
}

function idsOfWanted(
  keptIds: readonly string[],
  existing: readonly Entry[],
  created: readonly Entry[],
): Map<string, string> {
  const keeps = new Set(keptIds);
  const kept = existing.filter(({ id }) => keeps.has(id));
  return new Map([...kept, ...created].map(({ subKey, id }) => [subKey, id]));
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
