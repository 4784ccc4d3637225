import { readFileSync } from 'node:fs';

const microsecondsPerTick = 10_000; // Linux tells a process' time in hundredths of a second

/** CPU time that each of these processes has used so far, in µs; undefined where the system does not tell. */
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
