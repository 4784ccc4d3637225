import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../start-error.ts';
import { readPidFile } from './pid-file.ts';
import { commandLine, isAlive } from './process-identity.ts';

/** Signals to a leftover server, with the seconds that each gets: an orderly stop, an immediate one, the last resort. */
const steps = [
  ['SIGINT', 10],
  ['SIGQUIT', 5],
  ['SIGKILL', 5],
] as const satisfies [NodeJS.Signals, number][];

/**
 * Ends the server that still runs on a data folder after the process that started it was killed. Only a process whose
 * command line names the folder is ended: the pid may belong to another program by now.
 * @throws if it does not end
 */
export async function stopLeftoverServer(cluster: string): Promise<void> {
  const pid = readPidFile(cluster)?.pid;
  if (pid === undefined || !isServerOf(pid, cluster)) return;
  for (const [signal, seconds] of steps) {
    signalProcess(pid, signal);
    if (await hasEnded(pid, cluster, seconds)) return;
  }
  throw new DatabaseStartError(
    `a PostgreSQL server that an earlier process started on ${cluster} (pid ${pid}) does not stop`,
  );
}

const isServerOf = (pid: number, cluster: string): boolean =>
  isAlive(pid) && commandLine(pid).includes(`-D ${cluster} `);

async function hasEnded(pid: number, cluster: string, seconds: number): Promise<boolean> {
  const deadline = Date.now() + seconds * 1_000;
  while (Date.now() < deadline) {
    if (!isServerOf(pid, cluster)) return true;
    await sleep(10);
  }
  return false;
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
