/** Returns the value below which a share of the values lies, or NaN without values. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the middle value, or NaN without values. */
export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);
