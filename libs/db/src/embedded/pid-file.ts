import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Contents of `postmaster.pid`, which a running server writes. https://www.postgresql.org/docs/18/storage-file-layout.html */
export interface PidFile {
  pid: number;
  /** Whether it accepts connections. */
  isReady: boolean;
}

/** Reads the pid file of a data folder; undefined when there is none or it is incomplete. */
export function readPidFile(cluster: string): PidFile | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return Number.isInteger(pid) && pid > 1 ? { pid, isReady: lines[7]?.trim() === 'ready' } : undefined;
  } catch {
    return undefined;
  }
}
