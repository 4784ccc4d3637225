import { notFound } from '@secrets/domain';
import { z } from 'zod';
import { integer } from './fields.ts';

/**
 * The query of a paged list (docs/conventions.md#11-verbs-and-lists): at most `limit` items after `after`, the last item of the
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
    after: (after ?? z.string()).optional() as z.ZodOptional<After>,
    limit: integer
      .refine((limit) => limit >= 1 && limit <= max, { error: `must be between 1 and ${max}` })
      .default(max),
  });

/** Returns a list that is not empty. An empty list is a 404 without a sentence. */
export function requireAny<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length === 0) throw notFound();
  return items;
}
