import type { Entry, NewEntry } from '@secrets/sync-entries';

/** The changes that turn an association's entries into the wanted ones. */
export interface EntryPlan {
  create: NewEntry[];
  /** IDs of entries that stay, or are restored. */
  keep: string[];
  /** Entries to remove; `replacedBy` is the sub-key of the wanted entry that must be achieved first. */
  drop: { id: string; replacedBy: string | null }[];
}

/**
 * Compares the existing entries with the wanted ones. Entries are the same if sub-key and external name are the same: a
 * changed template leads to a new entry, and the old one is removed after it.
 */
export function planEntries(
  existing: readonly Pick<Entry, 'id' | 'subKey' | 'externalName'>[],
  wanted: readonly NewEntry[],
): EntryPlan {
  const wantedNames = new Set(wanted.map(nameOf));
  const existingNames = new Set(existing.map(nameOf));
  const wantedKeys = new Set(wanted.map(({ subKey }) => subKey));
  return {
    create: wanted.filter((entry) => !existingNames.has(nameOf(entry))),
    keep: existing.filter((entry) => wantedNames.has(nameOf(entry))).map(({ id }) => id),
    drop: existing
      .filter((entry) => !wantedNames.has(nameOf(entry)))
      .map(({ id, subKey }) => ({ id, replacedBy: replacementOf(subKey, wantedKeys) })),
  };
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

const nameOf = ({ subKey, externalName }: { subKey: string; externalName: string }): string =>
  JSON.stringify([subKey, externalName]);
