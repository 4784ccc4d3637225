import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '../../../scripts/test-services/at-exit.ts';

/** A place for one file of a process that can be made full. */
export interface SmallDisk {
  /** The folder for the file. */
  folder: string;
  /** How it is made full, for the report. */
  how: string;
  fill(pid: number | undefined): void;
  free(pid: number | undefined): void;
  end(): void;
}

/** More than the audit log of the longest run, or the disk would be full without a fault. */
const sizeMib = 256;
const chunk = Buffer.alloc(65_536);

/**
 * Creates a file system in memory, and fills it. Where that is not permitted, the size of the process's files is
 * limited to what they have, which its writes fail with as well (EFBIG in place of ENOSPC).
 */
export function smallDisk(folder: string, file: string): SmallDisk {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return limitedFiles(folder, join(folder, file));
  }
  const filler = join(folder, 'filler');
  const unmount = () => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  const forget = atExit(unmount);
  return {
    folder,
    how: `a full tmpfs of ${sizeMib} MiB (ENOSPC)`,
    fill: () => fill(filler),
    free: () => rmSync(filler, { force: true }),
    end: () => {
      forget();
      unmount();
    },
  };
}

function fill(filler: string): void {
  const descriptor = openSync(filler, 'a');
  try {
    for (let length = chunk.length; length > 0; ) {
      try {
        writeSync(descriptor, chunk, 0, length);
      } catch {
        length = Math.floor(length / 2);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

function limitedFiles(folder: string, file: string): SmallDisk {
  const limit = (pid: number | undefined, bytes: string) => {
    if (pid !== undefined) execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  };
  return {
    folder,
    how: 'prlimit --fsize (EFBIG): mount is not permitted',
    fill: (pid) => limit(pid, String(statSync(file).size)),
    free: (pid) => limit(pid, 'unlimited'),
    end: () => undefined,
  };
}
