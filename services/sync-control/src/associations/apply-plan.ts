import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import {
  type Entry,
  entriesOf,
  insertEntries,
  isPending,
  type NewEntry,
  type Priority,
  requestPut,
  requestRemoval,
} from '@secrets/sync-entries';
import { planEntries } from './plan-entries.ts';
import { takenNames } from './taken-names.ts';

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
  /** Which entries of the destination go first; `requested` if absent. */
  priority?: Priority;
  /** The problem to throw if the queue would grow; undefined if it has room. */
  full?: Problem | undefined;
  /** Whether entries that are no longer wanted are removed; otherwise they stay as they are. */
  mayRemove?: boolean;
}

/**
 * Writes the intents that turn an association's entries into the wanted ones. Entries that stay are pushed again. The
 * association's row must be locked. Throws `conflict`, which names both secrets, if a name is taken.
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
  await assertNamesFree(tx, association, plan.create);
  const created = await insertEntries(tx, association, plan.create, intent.overwrite, intent.priority);
  await requestPut(tx, plan.keep, intent);
  if (intent.mayRemove === false) return;
  const idOfKey = idsOfWanted(plan.keep, existing, created);
  await requestRemoval(
    tx,
    plan.drop.map(({ id, replacedBy }) => ({
      id,
      waitsFor: replacedBy === null ? null : (idOfKey.get(replacedBy) ?? null),
    })),
    intent.priority,
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

async function assertNamesFree(
  tx: Tx,
  association: PlannedAssociation,
  create: readonly NewEntry[],
): Promise<void> {
  const [sentence] = (await takenNames(tx, association.destinationId, create)).values();
  if (sentence !== undefined) throw new Problem('conflict', sentence);
}
