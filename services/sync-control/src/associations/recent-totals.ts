const freshMs = 1_000;
/** Maximum number of namespaces whose totals are kept. */
const maxKept = 1_000;

/**
 * Returns a function that counts for a namespace. A total for which `isLarge` holds is reused for a second, because counting
 * dominates the cost of large lists.
 */
export function recentTotals<Total>(
  count: (namespaceId: string) => Promise<Total>,
  isLarge: (total: Total) => boolean,
  now: () => number = () => performance.now(),
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
