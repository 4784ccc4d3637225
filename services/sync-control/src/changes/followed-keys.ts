import type { Tx } from '@secrets/db';
import { type DestinationDescription, findDescription } from '@secrets/destinations';
import { type Entry, entriesOf, type NewEntry } from '@secrets/sync-entries';
import { planEntries } from '../associations/plan-entries.ts';
import { takenNames } from '../associations/taken-names.ts';
import { maxEntries, maxKeys, possibleEntries, shapeOf } from '../associations/wanted-entries.ts';
import type { Shape, UnnamedKey } from '../queries/associations.ts';
import type { FollowedAssociation } from '../queries/associations-of-secret.ts';
import { type DestinationRow, findDestination } from '../queries/destinations.ts';

/** The entries that a changed secret needs, and the keys that cannot be synced. */
export interface FollowedKeys {
  wanted: NewEntry[];
  unnamed: UnnamedKey[];
  /** The number of synced entries whose key is gone. */
  removals: number;
}

/**
 * Returns what the keys of a changed secret lead to, where no request can be refused. A key that is already synced keeps
 * its name. A new key that cannot be named, or exceeds the limit, does not hold up the others. Returns undefined at secret-path granularity,
 * where the keys do not matter.
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
  if (destination === undefined) return undefined;
  const shape = plannedShape(association, destination);
  if (shape.granularity !== 'secret-key' || synced.some(({ subKey }) => subKey === '')) return undefined;
  const description = findDescription(type);
  const named = new Set(synced.map(({ subKey }) => subKey));
  const namespace = { id: namespaceId, path: association.namespacePath };
  const kept = keptEntries(description, synced, keys);
  const freshKeys = keys.filter((key) => !named.has(key));
  const room = Math.max(0, maxKeys - kept.length);
  const fresh = { mount, accessor, secretName, namespace, keys: freshKeys.slice(0, room) };
  const { entries, refused } = possibleEntries(description, { type, name, shape }, fresh, prefix);
  const { create } = planEntries(existing, entries);
  const excess = new Set(create.slice(Math.max(0, maxEntries - existing.length)));
  const possible = entries.filter((entry) => !excess.has(entry));
  const taken = await takenNames(tx, destination.id, planEntries(existing, possible).create);
  return {
    removals: synced.length - kept.length,
    wanted: [...kept, ...possible.filter(({ collisionKey }) => !taken.has(collisionKey))],
    unnamed: [
      ...refused,
      ...unnamedBecauseTaken(possible, taken),
      ...[...excess].map(({ subKey }) => ({ key: subKey, reason: tooManyEntries })),
      ...tooMany(freshKeys.slice(room)),
    ],
  };
}

/** What the association was planned by, whatever its destination says now: that applies from its next set or replan. */
function plannedShape({ template, granularity }: FollowedAssociation, destination: DestinationRow): Shape {
  const now = shapeOf(destination);
  return { template: template ?? now.template, granularity: granularity ?? now.granularity };
}

const tooManyEntries = `the secret has too many external secrets that are still to be removed: an association has at most ${maxEntries}, including these; set it again when they are removed`;

const tooMany = (keys: readonly string[]): UnnamedKey[] =>
  keys.map((key) => ({
    key,
    reason: `the secret has too many keys: at secret-key granularity, at most ${maxKeys} are synced`,
  }));

function keptEntries(
  { nameRule }: DestinationDescription,
  synced: readonly Entry[],
  keys: readonly string[],
): NewEntry[] {
  const current = new Set(keys);
  return synced
    .filter(({ subKey }) => current.has(subKey))
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
