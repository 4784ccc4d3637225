import type { OperationContext, OperationRequest } from './operation.ts';

const positive = (given: unknown, otherwise: number): number => {
  const value = Number(given);
  return Number.isInteger(value) && value > 0 ? value : otherwise;
};

/** One page of a list, and the header that refers to the next one. Pages have 30 items by default, and at most 100. */
export function pageOf<Item>(
  { baseUrl }: OperationContext,
  { path, query }: OperationRequest,
  items: readonly Item[],
): { items: Item[]; headers: Record<string, string> } {
  const perPage = Math.min(positive(query.per_page, 30), 100);
  const page = positive(query.page, 1);
  const start = (page - 1) * perPage;
  const hasMore = start + perPage < items.length;
  const next = `${baseUrl}${path.replace(/\?.*/, '')}?per_page=${perPage}&page=${page + 1}`;
  return {
    items: items.slice(start, start + perPage),
    headers: hasMore ? { link: `<${next}>; rel="next"` } : {},
  };
}
