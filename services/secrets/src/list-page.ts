import { integer } from '@secrets/http';
import { z } from 'zod';

const maxPageSize = 10_000;

/** Query of a list: only names after `after`, at most `limit`; beside it, `list` says that a list is asked for. */
export const Page = z.object({
  after: z.string().default(''),
  limit: integer
    .refine((given) => given >= 1 && given <= maxPageSize, { error: `must be from 1 to ${maxPageSize}` })
    .default(maxPageSize),
});
export type Page = z.infer<typeof Page>;

/** Cuts a list that was read with one name more than asked for, and says where the rest begins. */
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
