import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Describes the running processes that belong to a folder: it is in their arguments, in their environment, or they work in
 * it, as the processes of PostgreSQL do. Without /proc, only the arguments are searched.
 */
export function processesOf(folder: string): string[] {
  return descriptions().filter((description) => description.includes(folder));
}

/** One text per process, with its arguments and, where there is /proc, its environment and working folder. */
export function descriptions(): string[] {
  if (!existsSync('/proc/self/environ'))
    return execFileSync('ps', ['-Ao', 'pid,args'], { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((id) =>
      [
        id,
        read(() => readFileSync(`/proc/${id}/cmdline`, 'latin1')),
        read(() => readFileSync(`/proc/${id}/environ`, 'latin1')),
        read(() => readlinkSync(`/proc/${id}/cwd`)),
      ]
        .join(' ')
        .replaceAll('\0', ' '),
    );
}

/** Empty if the process has ended or belongs to another user. */
function read(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
