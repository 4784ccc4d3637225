import { readFileSync } from 'node:fs';

const microsecondsPerTick = 10_000; // Linux reports CPU time in hundredths of a second

/** Returns the CPU time that each process has used, in µs, or undefined if the operating system does not report it. */
export function cpuMicroseconds(pids: readonly number[]): number[] | undefined {
  try {
    return pids.map((pid) => ticksOf(pid) * microsecondsPerTick);
  } catch {
    return undefined;
  }
}

function ticksOf(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
  const fields = afterName.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
