/** Returns the highest number of times within any span of this length. The times ascend. */
export function peakWithin(times: readonly number[], spanMs: number): number {
  let first = 0;
  return times.reduce((peak, time, index) => {
    while (time - times[first]! > spanMs) first += 1;
    return Math.max(peak, index - first + 1);
  }, 0);
}
