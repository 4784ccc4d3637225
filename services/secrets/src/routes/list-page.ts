import { pageQuery } from '@secrets/http';

/** The query of a list: names after `after`, at most `limit`. */
export const Page = pageQuery({ max: 10_000 });

/** Cuts a list that was read with one item more than `limit`; a warning says where the next page begins. */
export function cutToPage<Item>(
  items: readonly Item[],
  limit: number,
  nameOf: (item: Item) => string,
  warn: (sentence: string) => void,
): Item[] {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (items.length > limit && last !== undefined)
    warn(
      `the list ends after ${limit} names; the next page begins with after=${encodeURIComponent(nameOf(last))}`,
    );
  return page;
}
