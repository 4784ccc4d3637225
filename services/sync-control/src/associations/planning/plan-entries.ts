import type { Entry, HandedOver, NewEntry } from '@secrets/sync-entries';

type ExistingEntry = Pick<Entry, 'id' | 'subKey' | 'desired' | 'waitsFor' | 'externalName' | 'collisionKey'>;

interface DroppedEntry {
  id: string;
  /** The sub-key of the wanted entry that replaces it; null if its key is gone from the secret. */
  replacedBy: string | null;
  /** The sub-key of the wanted entry that must be achieved before it is removed; null if it is removed at once. */
  after: string | null;
}

/** The changes that turn an association's entries into the wanted ones. */
export interface EntryPlan {
  create: NewEntry[];
  /** IDs of entries that stay, or are restored. */
  keep: string[];
  /**
   * Entries whose external secret another key takes over, or that are spelt in another way that the destination treats
   * as equal.
   */
  handOver: HandedOver[];
  drop: DroppedEntry[];
}

/**
 * Compares the existing entries with the wanted ones. A wanted entry continues the existing one whose name the destination treats
 * as equal, even if it belonged to another key: the external secret stays and gets the new value. Every other name leads to a new
 * entry, and the old one is removed after it is achieved. The same applies if a key is gone and another one was added, because
 * the key may have been renamed.
 */
export function planEntries(existing: readonly ExistingEntry[], wanted: readonly NewEntry[]): EntryPlan {
  const wantedByName = new Map(wanted.map((entry) => [entry.collisionKey, entry]));
  const existingNames = new Set(existing.map(({ collisionKey }) => collisionKey));
  const create = wanted.filter(({ collisionKey }) => !existingNames.has(collisionKey));
  const plan: EntryPlan = { create, keep: [], handOver: [], drop: [] };
  const outgoing: ExistingEntry[] = [];
  for (const old of existing) {
    const entry = wantedByName.get(old.collisionKey);
    if (entry === undefined) outgoing.push(old);
    else if (entry.subKey === old.subKey && entry.externalName === old.externalName) plan.keep.push(old.id);
    else plan.handOver.push({ id: old.id, subKey: entry.subKey, externalName: entry.externalName });
  }
  const continued = new Map(
    existing.map(({ id, collisionKey }) => [id, wantedByName.get(collisionKey)?.subKey]),
  );
  const existingKeys = new Set(existing.map(({ subKey }) => subKey));
  const added = create.map(({ subKey }) => subKey).filter((key) => !existingKeys.has(key));
  plan.drop = inOrder(outgoing, {
    wantedKeys: new Set(wanted.map(({ subKey }) => subKey)),
    continued,
    added,
  });
  return plan;
}

interface Remaining {
  wantedKeys: ReadonlySet<string>;
  /** Sub-keys of the wanted entries that continue existing ones, by the ID of the existing entry. */
  continued: ReadonlyMap<string, string | undefined>;
  /** Wanted keys that have no entry yet. */
  added: readonly string[];
}

/**
 * Decides after which wanted entry each outgoing one is removed. Keys that are gone are paired with keys that were
 * added, in their order; those without a partner wait for the last one. An entry that already waits for another one now
 * waits for the replacement of that one. An entry that is being removed does not begin to wait.
 */
function inOrder(
  outgoing: readonly ExistingEntry[],
  { wantedKeys, continued, added }: Remaining,
): DroppedEntry[] {
  const afterOf = new Map<string, string | undefined>(continued);
  const gone = outgoing.filter(
    ({ subKey, desired }) => desired === 'present' && replacementOf(subKey, wantedKeys) === null,
  );
  for (const [index, { id }] of gone.entries()) afterOf.set(id, added[Math.min(index, added.length - 1)]);
  return outgoing.map(({ id, subKey, waitsFor }) => {
    const replacedBy = replacementOf(subKey, wantedKeys);
    const after = replacedBy ?? afterOf.get(id) ?? (waitsFor === null ? undefined : afterOf.get(waitsFor));
    return { id, replacedBy, after: after ?? null };
  });
}

/**
 * Returns the wanted entry of the same key; after a change of granularity, any of the wanted ones. It may be new or from
 * an earlier plan, whose entry may still be pending.
 */
function replacementOf(subKey: string, wantedKeys: ReadonlySet<string>): string | null {
  if (wantedKeys.has(subKey)) return subKey;
  const [first] = wantedKeys;
  return (subKey === '' || wantedKeys.has('')) && first !== undefined ? first : null;
}
