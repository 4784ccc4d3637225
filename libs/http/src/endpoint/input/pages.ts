import { notFound, withoutNul } from '@secrets/domain';
import { z } from 'zod';
import { integer } from './fields.ts';

/**
 * The query of a paged list (docs/conventions/http.md#verbs-and-lists): at most `limit` items after `after`, the last item of the
 * previous page.
 */
export const pageQuery = <After extends z.ZodType = z.ZodString>({
  max,
  after,
}: {
  /** The largest page, which is also the default. */
  max: number;
  /** Schema of `after`; any string by default. */
  after?: After;
}) =>
  z.object({
    after: (after ?? z.string().meta(withoutNul)).optional() as z.ZodOptional<After>,
    limit: pageLimit(max),
  });

/** The size of a page: at most `max`, which is also what 0 and anything below mean. */
export const pageLimit = (max: number, byDefault = max) =>
  integer
    .refine((limit) => limit <= max, { error: `must be at most ${max}` })
    .meta({ type: 'integer', minimum: -1, maximum: max })
    .transform((limit) => (limit < 1 ? max : limit))
    .default(byDefault);

/**
 * Cuts a list that was read with one item more than `limit`. If something was cut, a warning states the query of the next page.
 * @param positionOf the query parameters of a list that continues after an item
 */
export function cutToPage<Item>(
  items: readonly Item[],
  limit: number,
  positionOf: (item: Item) => Record<string, string>,
  warn: (sentence: string) => void,
): Item[] {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (items.length > limit && last !== undefined)
    warn(`this page is full (limit=${limit}); the next one begins with ${queryText(positionOf(last))}`);
  return page;
}

/**
 * Returns a page of a list with what is shown about each of its items, like `cutToPage`. The next page begins after the key
 * of the last item. An empty list is a 404.
 */
export function describedPage<Item>(
  items: readonly Item[],
  { limit, warn, keyOf, present }: DescribedPageOptions<Item>,
): { keys: string[]; key_info: Record<string, object> } {
  const page = cutToPage(requireNonEmpty(items), limit, (item) => ({ after: keyOf(item) }), warn);
  const described = page.map((item) => [keyOf(item), present(item)] as const);
  return { keys: described.map(([key]) => key), key_info: Object.fromEntries(described) };
}

interface DescribedPageOptions<Item> {
  limit: number;
  warn: (sentence: string) => void;
  keyOf: (item: Item) => string;
  present: (item: Item) => object;
}

const queryText = (parameters: Record<string, string>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

/** Returns a list that is not empty. An empty list is a 404 without a sentence. */
export function requireNonEmpty<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length === 0) throw notFound();
  return items;
}
