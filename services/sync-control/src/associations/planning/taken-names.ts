import type { Sql } from '@secrets/db';
import { type NewEntry, namesTaken } from '@secrets/sync-entries';

/** Returns those of the new names that are taken in the destination: by collision key, a sentence that names the holder. */
export async function takenNames(
  sql: Sql,
  destinationId: string,
  create: readonly NewEntry[],
): Promise<Map<string, string>> {
  if (create.length === 0) return new Map();
  const nameOf = new Map(create.map(({ collisionKey, externalName }) => [collisionKey, externalName]));
  const taken = await namesTaken(sql, destinationId, [...nameOf.keys()]);
  return new Map(
    taken.map(({ collisionKey, externalName, mount, secretName, subKey }) => {
      const holder = `${mount}/${secretName}${subKey === '' ? '' : ` (key ${subKey})`}`;
      const sentence = `the external name ${nameOf.get(collisionKey)} is taken in this destination by ${holder}, as ${externalName}`;
      return [collisionKey, sentence];
    }),
  );
}
