import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '@secrets/domain';

/**
 * Gives what a file holds, after writing `content` to it when it is not there. The file appears whole or not at all,
 * on the disk when this returns, and never over one that is there: of two processes at once, the first one's counts.
 * Only its owner may read it.
 */
export function writeOnce(file: string, content: string): string {
  const known = readIfPresent(file);
  if (known !== undefined) return known;
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${basename(file)}.${randomBytes(6).toString('hex')}.new`);
  try {
    writeDurably(draft, content);
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(folder);
  return readFileSync(file, 'utf8');
}

/** What a file holds; undefined when there is none. */
export function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function writeDurably(file: string, content: string): void {
  const descriptor = openSync(file, 'wx', 0o400);
  try {
    writeSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
