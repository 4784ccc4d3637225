import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '@secrets/domain';

/**
 * Creates a file with what `generate` returns unless the file exists, and returns the file's content. Only the owner can read
 * the file. It is complete as soon as it exists, and on disk when this returns: a draft is written first and then linked. Of
 * two concurrent processes, the first one determines the content. Drafts that a crash left behind are removed.
 * @param mode permissions of a new file
 */
export function createSecretFile(
  file: string,
  generate: () => string,
  { mode = 0o600 }: { mode?: number } = {},
): string {
  if (readSecretFile(file) === undefined) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    linkDraft(file, generate(), mode);
    syncFolder(dirname(file));
  }
  removeDrafts(file);
  return readFileSync(file, 'utf8');
}

/** Returns the content of a file, or undefined if it does not exist. */
export function readSecretFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Replaces a file as a whole. Its owner stays the same, and so does whether the owner may write to it; others may not read it.
 * After a crash, the file has the former content or the new one.
 * @throws if the file does not have the content `former` any more
 */
export function replaceSecretFile(file: string, former: string, content: string): void {
  const target = realpathSync(file);
  const draft = join(dirname(target), `${draftPrefix(target)}${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    const { uid, gid, mode } = statSync(target);
    chmodSync(draft, mode & 0o600);
    if (statSync(draft).uid !== uid) chownSync(draft, uid, gid);
    if (readFileSync(target, 'utf8') !== former)
      throw new Error(`${file} was changed by somebody else at the same time`);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(target));
}

const draftPrefix = (file: string): string => `.${basename(file)}.new-`;

/** A link, unlike a rename, does not replace a file that another process has created in the meantime. */
function linkDraft(file: string, content: string, mode: number): void {
  const draft = join(dirname(file), `${draftPrefix(file)}${randomBytes(6).toString('hex')}`);
  writeFileSync(draft, content, { flag: 'wx', mode, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (readSecretFile(file) === undefined) throw error; // otherwise another process was first
  }
}

/** Called when the file exists, so that its drafts are no longer needed. A folder that may not be changed has none. */
function removeDrafts(file: string): void {
  try {
    for (const name of readdirSync(dirname(file)))
      if (name.startsWith(draftPrefix(file))) rmSync(join(dirname(file), name), { force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** Makes a new name durable: https://man7.org/linux/man-pages/man2/fsync.2.html */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // a folder cannot be opened there
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
