import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { type Entry, entriesOf, type HandedOver, type NewEntry } from '@secrets/sync-entries';
import type { InspectedSecret } from '../../changes/secrets-client.ts';
import type { FollowedAssociation } from '../../queries/associations/associations-of-secret.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { keepFormerNames, nameOf } from './keep-former-names.ts';
import { type EntryPlan, planEntries } from './plan-entries.ts';
import { requireSyncableKeys } from './require-syncable-keys.ts';
import { takenNames } from './taken-names.ts';
import { namingSchemeOf, wantedEntries } from './wanted-entries.ts';

/** Changes to an association that follow from the current template and granularity of its destination. */
export interface ChangedPlan {
  wanted: NewEntry[];
  create: NewEntry[];
  /** Entries whose external secret another key takes over. */
  handOver: HandedOver[];
  /** Entries that are removed; those that another one replaces are removed after it. */
  remove: Entry[];
  /** The number of removed entries without a replacement, because their keys are gone from the secret. */
  removals: number;
  /** The revision of the secret that was planned from. */
  revision: number;
}

/** Why an association stays as it is. */
export interface Refusal {
  reason: string;
  /** Whether the same attempt may succeed in a moment. */
  isTemporary?: boolean;
}

/** An association with its destination and the state of its secret. */
export interface Replanned {
  association: FollowedAssociation;
  destination: DestinationRow;
}

/**
 * Plans an association, whose row must be locked, in the same way as a set. Returns undefined if nothing changes, or if its
 * secret is gone, because removals are decided elsewhere. Throws `invalid` if a key or a name cannot be synced, `conflict` if two
 * keys would have the same name.
 */
export async function planAgain(
  tx: Tx,
  prefix: string,
  { association, destination }: Replanned,
  secret: InspectedSecret | undefined,
): Promise<ChangedPlan | Refusal | undefined> {
  if (secret === undefined) return { reason: 'the state of the secret is unknown', isTemporary: true };
  if (!secret.exists) return undefined;
  const { namespaceId, type, namespacePath } = association;
  if (destination.settings.granularity === 'secret-key') {
    if (!secret.readable) return { reason: 'no version of the secret is readable, so its keys are unknown' };
    if (secret.revision < association.plannedRevision)
      return { reason: 'the secret has just changed', isTemporary: true };
    requireSyncableKeys(secret, association, destination);
  }
  const named = { ...association, namespace: { id: namespaceId, path: namespacePath }, keys: secret.keys };
  const possible = wantedEntries(
    findDescription(type),
    { ...destination, shape: namingSchemeOf(destination) },
    named,
    prefix,
  );
  const existing = await entriesOf(tx, [association.id]);
  const wanted = keepFormerNames(existing, possible);
  const plan = planEntries(existing, wanted);
  const [taken] = (await takenNames(tx, destination.id, plan.create)).values();
  if (taken !== undefined) return { reason: taken };
  return changedPlan(existing, wanted, plan, secret.revision);
}

function changedPlan(
  existing: readonly Entry[],
  wanted: NewEntry[],
  { create, handOver, drop }: EntryPlan,
  revision: number,
): ChangedPlan | undefined {
  const present = new Map(
    existing.filter(({ desired }) => desired === 'present').map((entry) => [entry.id, entry]),
  );
  const dropped = drop.filter(({ id }) => present.has(id));
  const presentKeys = new Set([...present.values()].map(nameOf));
  const isChanged = dropped.length > 0 || wanted.some((entry) => !presentKeys.has(nameOf(entry)));
  if (!isChanged) return undefined;
  return {
    wanted,
    create,
    handOver,
    remove: dropped.map(({ id }) => present.get(id)!),
    removals: dropped.filter(({ replacedBy }) => replacedBy === null).length,
    revision,
  };
}
