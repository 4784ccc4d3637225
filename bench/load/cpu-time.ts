import { statOf, treeOf } from './process-tree.ts';

const microsecondsPerTick = 10_000; // Linux reports CPU time in hundredths of a second

/**
 * Returns the CPU time that each process has used, together with its descendants, in µs; undefined if the operating system does
 * not report it.
 */
export function cpuMicroseconds(pids: readonly number[]): number[] | undefined {
  try {
    return pids.map(
      (pid) => treeOf(pid).reduce((ticks, each) => ticks + ticksOf(each), 0) * microsecondsPerTick,
    );
  } catch {
    return undefined;
  }
}

/** The CPU time of a process and of those of its children that have ended; 0 if it has ended itself. */
function ticksOf(pid: number): number {
  const fields = statOf(pid);
  const [user, system, ofChildren, systemOfChildren] = fields.slice(11, 15).map(Number);
  return fields.length === 0 ? 0 : user! + system! + ofChildren! + systemOfChildren!;
}
