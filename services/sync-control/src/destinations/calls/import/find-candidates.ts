import { findDescription } from '@secrets/destinations';
import type { StorePosition } from '@secrets/domain';
import { namesTaken } from '@secrets/sync-entries';
import type { Context } from '../../../context.ts';
import type { DestinationRow } from '../../../queries/destinations/destinations.ts';
import { askStore } from '../ask-store.ts';
import type { Glob } from './glob.ts';
import type { Candidate } from './import-result.ts';

/** Part of the list of a store: where it begins, the names to list at most, and which of them are wanted. */
interface ListedPart {
  position: StorePosition;
  limit: number;
  matches: Glob;
}

/** The external secrets of a part of the list, and where the next one begins; null after the last one. */
interface FoundPart {
  candidates: Candidate[];
  next: StorePosition | null;
}

/** Seconds to wait for a list. */
const listSeconds = 8;

/** Lists part of what a store has. Throws as `askStore`. */
export async function listCandidates(
  context: Context,
  destination: DestinationRow,
  { position, limit, matches }: ListedPart,
): Promise<FoundPart> {
  const { secrets, next } = await askStore(context, destination, {
    calls: 1,
    waitSeconds: listSeconds,
    questionFor: () => ({ after: position, limit }),
  });
  const matching = secrets
    .filter(({ name }) => matches(name))
    .map((one) => ({ name: one.name, listed: one }));
  return { candidates: await withEntries(context, destination, matching), next };
}

/** Adds the entries of the destination that have these names. */
export async function withEntries(
  { db }: Pick<Context, 'db'>,
  { id, type }: DestinationRow,
  found: readonly Omit<Candidate, 'entry'>[],
): Promise<Candidate[]> {
  const { collisionKey } = findDescription(type).nameRule;
  const keys = found.map(({ name }) => collisionKey(name));
  const entries = new Map((await namesTaken(db, id, keys)).map((entry) => [entry.collisionKey, entry]));
  return found.map((one, index) => ({ ...one, entry: entries.get(keys[index]!) }));
}
