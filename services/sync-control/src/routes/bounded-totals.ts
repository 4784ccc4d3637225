/**
 * A list's totals are exact up to here. Counting so many takes about a tenth of a second; what a list costs must not
 * grow with what is stored.
 */
export const maxCounted = 100_000;

/** Says of totals that stopped at the bound that they did. */
export function warnIfBounded(counted: number, warn: (sentence: string) => void): void {
  if (counted >= maxCounted) warn(`totals are counted up to ${maxCounted}; there may be more`);
}
