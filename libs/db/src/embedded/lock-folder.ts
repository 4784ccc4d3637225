import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@secrets/domain';

/**
 * Takes a folder for this process alone and gives back its release. A lock left by a process that is gone
 * (kill -9, power cut) is taken over. Throws when another living process holds it.
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = `${folder.replace(/\/+$/, '')}.lock`;
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) });
  for (const attempt of [1, 2]) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      if (attempt === 2 || isHeld(file)) {
        throw new Error(`${folder} is in use by another process (its lock is ${file})`);
      }
      rmSync(file, { force: true });
    }
  }
  throw new Error('unreachable');
}

function isHeld(file: string): boolean {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; started: string };
    if (pid === process.pid) return startOf(pid) === started;
    process.kill(pid, 0);
    return startOf(pid) === started;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * When a process began, as Linux tells it (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html): a pid used again
 * is not the same process, and one that is dead and waits for its parent to hear of it is none. Empty elsewhere.
 */
function startOf(pid: number): string {
  try {
    const fields = readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
      .split(') ')[1]
      ?.split(' ');
    if (fields?.[0] === 'Z') return 'dead';
    return fields?.[19] ?? '';
  } catch {
    return '';
  }
}
