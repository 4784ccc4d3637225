const freshMs = 1_000;
/** More namespaces than one process serves at a time; without a limit, those of long ago would stay. */
const maxKept = 1_000;

/**
 * Returns a function that counts for a namespace, at most once a second if `isLarge`: counting is what a list of a large namespace costs
 * most. A total that is not large is always counted.
 */
export function recentTotals<Total>(
  count: (namespaceId: string) => Promise<Total>,
  isLarge: (total: Total) => boolean,
  now: () => number = Date.now,
): (namespaceId: string) => Promise<Total> {
  const kept = new Map<string, { total: Total; at: number }>();
  return async (namespaceId) => {
    const known = kept.get(namespaceId);
    if (known !== undefined && now() - known.at < freshMs) return known.total;
    const at = now();
    const total = await count(namespaceId);
    if (kept.size >= maxKept) kept.clear();
    if (isLarge(total)) kept.set(namespaceId, { total, at });
    return total;
  };
}
