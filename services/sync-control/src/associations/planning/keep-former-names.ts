import type { Entry, NewEntry } from '@secrets/sync-entries';

type Named = Pick<Entry, 'subKey' | 'desired' | 'externalName' | 'collisionKey'>;

/**
 * Returns the wanted entries, with the present name of those that an earlier version named: a new rule for default names renames
 * no external secret. A name that another wanted entry needs is not kept.
 */
export function keepFormerNames(existing: readonly Named[], wanted: readonly NewEntry[]): NewEntry[] {
  const needed = new Set(wanted.map(({ collisionKey }) => collisionKey));
  const present = new Map(
    existing.filter(({ desired }) => desired === 'present').map((entry) => [nameOf(entry), entry]),
  );
  return wanted.map((entry) => {
    const { subKey, formerName = '' } = entry;
    const former = present.get(nameOf({ subKey, externalName: formerName }));
    if (former === undefined || needed.has(former.collisionKey)) return entry;
    return { subKey, externalName: former.externalName, collisionKey: former.collisionKey };
  });
}

/** A text that is different for each name of a key. */
export const nameOf = ({ subKey, externalName }: Pick<NewEntry, 'subKey' | 'externalName'>): string =>
  JSON.stringify([subKey, externalName]);
