import { notFound } from '@secrets/domain';
import { z } from 'zod';
import { integer } from './fields.ts';

/**
 * The query of a paged list (docs/conventions.md#11-verbs-and-lists): at most `limit` items, those after `after`, where `after` is the last
 * item of the page before.
 */
export const pageQuery = <After extends z.ZodType = z.ZodString>({
  max,
  after,
}: {
  /** The largest page, which is also the default. */
  max: number;
  /** The form of an item's position; any text if absent. */
  after?: After;
}) =>
  z.object({
    after: (after ?? z.string()).optional() as z.ZodOptional<After>,
    limit: integer
      .refine((limit) => limit >= 1 && limit <= max, { error: `must be from 1 to ${max}` })
      .default(max),
  });

/** Returns a list as it is. An empty list is a missing one: 404 without a sentence. */
export function requireAny<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length === 0) throw notFound();
  return items;
}
