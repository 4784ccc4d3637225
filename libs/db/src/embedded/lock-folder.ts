import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { errorCode } from '@secrets/domain';
import { DatabaseStartError } from '../start-error.ts';
import { isAlive, processStart } from './process-identity.ts';

/**
 * Locks a folder for this process and returns a function that releases it. A lock left by a process that is gone
 * (kill -9, power failure) is taken over. Throws if another running process holds it.
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = `${folder.replace(/\/+$/, '')}.lock`;
  const mine = JSON.stringify({ pid: process.pid, started: processStart(process.pid) });
  for (const attempt of [1, 2]) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      if (attempt === 2 || isHeld(file)) {
        throw new DatabaseStartError(`${folder} is in use by another process (its lock is ${file})`);
      }
      rmSync(file, { force: true });
    }
  }
  throw new Error('unreachable');
}

function isHeld(file: string): boolean {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; started: string };
    return isAlive(pid) && processStart(pid) === started;
  } catch {
    return false;
  }
}
