import type { Entry, NewEntry } from '@secrets/sync-entries';

/** What has to be done with an association's entries so that they become the wanted ones. */
export interface EntryPlan {
  create: NewEntry[];
  /** Ids of entries that stay, or come back. */
  keep: string[];
  /** Entries that go; `replacedBy` is the sub-key whose wanted name must be there first. */
  drop: { id: string; replacedBy: string | null }[];
}

/**
 * Compares what is there with what is wanted. An entry is the same when sub-key and external name are: a changed
 * template makes a new entry, and the old one goes after it.
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
 * The wanted entry of the same key; after a change of granularity, any of the wanted ones. Whether it is new or was
 * made by an earlier plan: that one may still be on its way.
 */
function replacementOf(subKey: string, wantedKeys: ReadonlySet<string>): string | null {
  if (wantedKeys.has(subKey)) return subKey;
  const [first] = wantedKeys;
  return (subKey === '' || wantedKeys.has('')) && first !== undefined ? first : null;
}

const nameOf = ({ subKey, externalName }: { subKey: string; externalName: string }): string =>
  JSON.stringify([subKey, externalName]);
