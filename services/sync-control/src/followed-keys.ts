import type { Tx } from '@secrets/db';
import { type DestinationDescription, findDescription } from '@secrets/destinations';
import { type Entry, entriesOf, type NewEntry } from '@secrets/sync-entries';
import { planEntries } from './plan-entries.ts';
import type { AssociationRow, UnnamedKey } from './queries/associations.ts';
import { findDestination } from './queries/destinations.ts';
import { takenNames } from './taken-names.ts';
import { possibleEntries } from './wanted-entries.ts';

/** An association whose secret changed, with where it leads. */
export type FollowedAssociation = AssociationRow & { type: string; name: string; namespacePath: string };

/** What is wanted of a secret that changed, and which of its keys cannot be synced. */
export interface FollowedKeys {
  wanted: NewEntry[];
  unnamed: UnnamedKey[];
}

/**
 * What a changed secret's keys lead to, when there is nobody to refuse. A key that is synced already keeps its name; a
 * new one gets one if it can, and does not hold up the others if not. Undefined at secret-path granularity: one
 * entry, whatever the keys.
 */
export async function followedKeys(
  tx: Tx,
  prefix: string,
  association: FollowedAssociation,
  keys: readonly string[],
): Promise<FollowedKeys | undefined> {
  const { namespaceId, type, name, mount, accessor, secretName } = association;
  const destination = await findDestination(tx, { namespaceId, type, name });
  const existing = await entriesOf(tx, [association.id]);
  const synced = existing.filter(({ desired }) => desired === 'present');
  if (destination?.settings.granularity !== 'secret-key' || synced.some(({ subKey }) => subKey === ''))
    return undefined;
  const description = findDescription(type);
  const named = new Set(synced.map(({ subKey }) => subKey));
  const namespace = { id: namespaceId, path: association.namespacePath };
  const fresh = { mount, accessor, secretName, namespace, keys: keys.filter((key) => !named.has(key)) };
  const { entries, refused } = possibleEntries(description, destination, fresh, prefix);
  const taken = await takenNames(tx, destination.id, planEntries(existing, entries).create);
  return {
    wanted: [
      ...stillThere(description, synced, keys),
      ...entries.filter(({ collisionKey }) => !taken.has(collisionKey)),
    ],
    unnamed: [...refused, ...unnamedBecauseTaken(entries, taken)],
  };
}

function stillThere(
  { nameRule }: DestinationDescription,
  synced: readonly Entry[],
  keys: readonly string[],
): NewEntry[] {
  const there = new Set(keys);
  return synced
    .filter(({ subKey }) => there.has(subKey))
    .map(({ subKey, externalName }) => ({
      subKey,
      externalName,
      collisionKey: nameRule.collisionKey(externalName),
    }));
}

const unnamedBecauseTaken = (
  entries: readonly NewEntry[],
  taken: ReadonlyMap<string, string>,
): UnnamedKey[] =>
  entries.flatMap(({ subKey, collisionKey }) => {
    const reason = taken.get(collisionKey);
    return reason === undefined ? [] : [{ key: subKey, reason }];
  });
