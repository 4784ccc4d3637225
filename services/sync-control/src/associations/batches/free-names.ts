import { Problem } from '@secrets/domain';
import type { NewEntry } from '@secrets/sync-entries';
import { type NameHolder, whyTaken } from '../planning/taken-names.ts';

/** A secret, and the external secrets that it would have. */
export interface NamedEntries {
  secretName: string;
  entries: readonly NewEntry[];
}

/** Those that can have all of their names, and why each other one cannot, by the name of the secret. */
interface Divided<Named> {
  free: Named[];
  refused: Map<string, Problem>;
}

/**
 * Divides secrets of a mount into those whose names are free, and those of which one is taken: in the destination, or by a secret
 * before it in the list. A refused one takes no name from those after it.
 */
export function divideByNames<Named extends NamedEntries>(
  mount: string,
  secrets: readonly Named[],
  taken: ReadonlyMap<string, NameHolder>,
): Divided<Named> {
  const holders = new Map(taken);
  const divided: Divided<Named> = { free: [], refused: new Map() };
  for (const secret of secrets) {
    const { secretName, entries } = secret;
    const clash = entries.find(({ collisionKey }) => holders.has(collisionKey));
    if (clash !== undefined) {
      const sentence = whyTaken(clash.externalName, holders.get(clash.collisionKey)!);
      divided.refused.set(secretName, new Problem('conflict', sentence));
      continue;
    }
    divided.free.push(secret);
    for (const entry of entries) holders.set(entry.collisionKey, { ...entry, mount, secretName });
  }
  return divided;
}
