import type { ListQuestion, StorePosition } from '@secrets/domain';
import type { ListedSecret, ListPage } from '../driver/look.ts';

interface CutList {
  secrets: ListedSecret[];
  next: StorePosition | null;
}

/**
 * Returns the part of a page of the store that follows a name, in the order of the names: the same page read again continues
 * there, also if something was added to it or removed from it meanwhile.
 */
export function cutList({ secrets, next }: ListPage, { after, limit }: ListQuestion): CutList {
  const following = secrets.filter(({ name }) => name > after.name).sort(byName);
  const shown = following.slice(0, limit);
  const last = shown.at(-1);
  if (last !== undefined && following.length > limit)
    return { secrets: shown, next: { page: after.page, name: last.name } };
  return { secrets: shown, next: next === null ? null : { page: next, name: '' } };
}

const byName = (a: ListedSecret, b: ListedSecret): number => (a.name < b.name ? -1 : 1);
