import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@secrets/domain';

/**
 * When a process started, in the kernel's own unit (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), to
 * recognise a pid that was reused. `dead` for a process that its parent has not yet waited for. Empty where there is no /proc.
 */
export function processStart(pid: number): string {
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

/** Whether a process exists, possibly as another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  return processStart(pid) !== 'dead';
}

/** The command line of a process; empty if it cannot be read. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(join('/proc', String(pid), 'cmdline'), 'utf8').replaceAll('\0', ' ');
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 })
      .stdout;
  } catch {
    return '';
  }
}
