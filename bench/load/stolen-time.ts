import { readFileSync } from 'node:fs';

/**
 * Returns the time that the cores have spent, in ticks, and how much of it they waited for the hypervisor while they
 * had work; undefined if the operating system does not report it (proc_stat(5), `steal`).
 */
function coreTicks(): { total: number; stolen: number } | undefined {
  try {
    const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.split(/\s+/);
    const counted = ticks.slice(0, 8).map(Number); // the others are part of the first ones
    return { total: counted.reduce((sum, each) => sum + each, 0), stolen: counted[7]! };
  } catch {
    return undefined;
  }
}

/**
 * Begins to measure; the result says which share of the time of the cores the hypervisor has withheld since then, if that
 * is 1 % or more.
 */
export function measureStolenTime(): () => string | undefined {
  const before = coreTicks();
  return () => {
    const after = coreTicks();
    if (before === undefined || after === undefined) return undefined;
    const share = (after.stolen - before.stolen) / (after.total - before.total);
    if (share < 0.01) return undefined;
    return `while this was measured, the hypervisor withheld ${(share * 100).toFixed(1)} % of the time of the cores`;
  };
}
