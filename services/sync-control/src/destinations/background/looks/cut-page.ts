import type { SeenEntry } from '@secrets/sync-entries';

/** The entries of a page that are looked at, its last collision key (null if it ends the round), and how many it covers. */
interface CutPage {
  ids: string[];
  end: string | null;
  seen: number;
}

/**
 * Cuts a page from the next entries of a destination, with at most `max` that are looked at.
 * @param isLast whether no other entry follows these
 */
export function cutPage(entries: readonly SeenEntry[], max: number, isLast: boolean): CutPage {
  const wanted = entries.filter(({ isWanted }) => isWanted);
  const next = wanted[max];
  const covered = next === undefined ? entries : entries.slice(0, entries.indexOf(next));
  const isEnd = isLast && covered.length === entries.length;
  return {
    ids: wanted.slice(0, max).map(({ id }) => id),
    end: isEnd ? null : (covered.at(-1)?.collisionKey ?? null),
    seen: covered.length,
  };
}
