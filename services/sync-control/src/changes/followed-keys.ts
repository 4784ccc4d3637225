import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { type Entry, entriesOf, type NewEntry } from '@secrets/sync-entries';
import { planEntries } from '../associations/planning/plan-entries.ts';
import { takenNames } from '../associations/planning/taken-names.ts';
import {
  maxEntries,
  maxKeys,
  namingSchemeOf,
  possibleEntries,
} from '../associations/planning/wanted-entries.ts';
import type { NamingScheme, UnnamedKey } from '../queries/associations/associations.ts';
import type { FollowedAssociation } from '../queries/associations/associations-of-secret.ts';
import { type DestinationRow, findDestination } from '../queries/destinations/destinations.ts';

/** The entries that a changed secret needs, and the keys that cannot be synced. */
export interface FollowedKeys {
  wanted: NewEntry[];
  unnamed: UnnamedKey[];
  /** Names that are taken by other entries of the destination, and that some of these keys wait for. */
  awaitedNames: string[];
  /** The number of synced entries whose key is gone, and whose external secret no other key takes over. */
  removals: number;
}

/**
 * Returns the entries that the keys of a changed secret lead to. No request can be refused here. A key that is already synced
 * keeps its name. A new key that cannot be named, or exceeds the limit, does not hold up the others. Returns undefined at
 * secret-path granularity, where the keys do not matter.
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
  const kept = keptEntries(synced, keys);
  const freshKeys = keys.filter((key) => !named.has(key));
  const room = Math.max(0, maxKeys - kept.length);
  const fresh = { mount, accessor, secretName, namespace, keys: freshKeys.slice(0, room) };
  const { entries, refused } = possibleEntries(description, { type, name, shape }, fresh, { prefix, kept });
  const { create } = planEntries(existing, entries);
  const excess = new Set(create.slice(Math.max(0, maxEntries - existing.length)));
  const possible = entries.filter((entry) => !excess.has(entry));
  const taken = await takenNames(tx, destination.id, planEntries(existing, possible).create);
  const wanted = [...kept, ...possible.filter(({ collisionKey }) => !taken.has(collisionKey))];
  const names = new Set(wanted.map(({ collisionKey }) => collisionKey));
  return {
    removals: synced.filter(({ collisionKey }) => !names.has(collisionKey)).length,
    wanted,
    awaitedNames: possible.map(({ collisionKey }) => collisionKey).filter((name) => taken.has(name)),
    unnamed: [
      ...refused,
      ...unnamedBecauseTaken(possible, taken),
      ...[...excess].map(({ subKey }) => ({ key: subKey, reason: tooManyEntries })),
      ...tooMany(freshKeys.slice(room)),
    ],
  };
}

/**
 * Returns the naming scheme that the association was planned with. Changes of its destination apply from the next set or replan.
 */
function plannedShape(
  { template, granularity }: FollowedAssociation,
  destination: DestinationRow,
): NamingScheme {
  const now = namingSchemeOf(destination);
  return { template: template ?? now.template, granularity: granularity ?? now.granularity };
}

const tooManyEntries = `the secret has too many external secrets that are still to be removed: an association has at most ${maxEntries}, including these; set it again when they are removed`;

const tooMany = (keys: readonly string[]): UnnamedKey[] =>
  keys.map((key) => ({
    key,
    reason: `the secret has too many keys: at secret-key granularity, at most ${maxKeys} are synced`,
  }));

function keptEntries(synced: readonly Entry[], keys: readonly string[]): NewEntry[] {
  const current = new Set(keys);
  return synced.filter(({ subKey }) => current.has(subKey));
}

const unnamedBecauseTaken = (
  entries: readonly NewEntry[],
  taken: ReadonlyMap<string, string>,
): UnnamedKey[] =>
  entries.flatMap(({ subKey, collisionKey }) => {
    const reason = taken.get(collisionKey);
    return reason === undefined ? [] : [{ key: subKey, reason }];
  });
