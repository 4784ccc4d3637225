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
 * Creates a file with `content` unless it exists, and returns the file's content. The file is created atomically, is on disk
 * when this returns, and is readable only by its owner. Of two concurrent processes, the first one determines the content.
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

/** Returns the content of a file, or undefined if it does not exist. */
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
