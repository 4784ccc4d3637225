/**
 * The totals of a list are exact up to this number. Counting that far takes about a tenth of a second; the cost of a list
 * must not grow with what is stored.
 */
export const maxCounted = 100_000;

/** Warns that totals stopped at the limit, if they did. */
export function warnIfBounded(counted: number, warn: (sentence: string) => void): void {
  if (counted >= maxCounted) warn(`totals are counted up to ${maxCounted}; there may be more`);
}
