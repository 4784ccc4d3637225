import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import {
  type Entry,
  entriesOf,
  insertEntries,
  isPending,
  type NewEntry,
  requestPut,
  requestRemoval,
} from '@secrets/sync-entries';
import { planEntries } from './plan-entries.ts';
import { takenNames } from './taken-names.ts';

/** The association whose entries are brought in line, and where it stands. */
export interface PlannedAssociation {
  id: string;
  destinationId: string;
  destinationType: string;
}

/** What is meant by bringing entries in line. */
export interface PlanIntent {
  overwrite: boolean;
  verify: boolean;
  /** Thrown when the queue would grow by it: there is no room. */
  full?: Problem | undefined;
}

/**
 * Writes the intents that turn an association's entries into the wanted ones; all that stay are pushed anew. To be
 * called with the association's row held. Throws `conflict` when a name is taken, naming both secrets; then nothing
 * is written.
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
  const created = await insertEntries(tx, association, plan.create, intent.overwrite);
  await requestPut(tx, plan.keep, intent);
  const idOfKey = idsOfWanted(plan.keep, existing, created);
  await requestRemoval(
    tx,
    plan.drop.map(({ id, replacedBy }) => ({
      id,
      waitsFor: replacedBy === null ? null : (idOfKey.get(replacedBy) ?? null),
    })),
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
