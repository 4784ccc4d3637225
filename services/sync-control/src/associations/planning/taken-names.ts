import type { Sql } from '@secrets/db';
import { type NewEntry, namesTaken } from '@secrets/sync-entries';

/** The external secret that has a name in a destination, and the secret that it belongs to. */
export interface NameHolder {
  externalName: string;
  mount: string;
  secretName: string;
  subKey: string;
}

/** Returns those of the new names that are taken in the destination: by collision key, a sentence that names the holder. */
export async function takenNames(
  sql: Sql,
  destinationId: string,
  create: readonly NewEntry[],
): Promise<Map<string, string>> {
  const nameOf = new Map(create.map(({ collisionKey, externalName }) => [collisionKey, externalName]));
  const holders = await holdersOf(sql, destinationId, create);
  return new Map([...holders].map(([key, holder]) => [key, whyTaken(nameOf.get(key)!, holder)]));
}

/** Returns what has these names in the destination, by collision key. */
export async function holdersOf(
  sql: Sql,
  destinationId: string,
  entries: readonly NewEntry[],
): Promise<Map<string, NameHolder>> {
  if (entries.length === 0) return new Map();
  const keys = new Set(entries.map(({ collisionKey }) => collisionKey));
  const taken = await namesTaken(sql, destinationId, [...keys]);
  return new Map(taken.map((holder) => [holder.collisionKey, holder]));
}

/** The sentence that refuses a name. */
export function whyTaken(
  externalName: string,
  { mount, secretName, subKey, externalName: heldName }: NameHolder,
): string {
  const holder = `${mount}/${secretName}${subKey === '' ? '' : ` (key ${subKey})`}`;
  return `the external name ${externalName} is taken in this destination by ${holder}, as ${heldName}`;
}
