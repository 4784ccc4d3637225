import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, linkSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorCode } from '@secrets/domain';
import type { Encrypter } from 'age-encryption';
import { type Pack, pack } from 'tar-stream';
import { ArchiveError } from './archive-error.ts';

/** A file in the archive. */
export interface Member {
  name: string;
  content: Uint8Array;
}

/** A file that a killed program has left is not touched by its writer any more. */
const draftMaxAgeMs = 3_600_000;

const draftOf = (file: string): string =>
  join(dirname(file), `.${basename(file)}.new-${randomBytes(6).toString('hex')}`);

/**
 * Writes a compressed tar file, encrypted with age, which `age -d … | tar xz` reads too. The file (mode 0600) appears when it is
 * complete and on the disk, and replaces none. One member at a time is in memory.
 * @throws {ArchiveError} if the file exists
 */
export async function writeArchive(
  file: string,
  encrypter: Encrypter,
  members: AsyncIterable<Member>,
): Promise<void> {
  if (existsSync(file)) throw exists(file); // before hours of work
  const draft = draftOf(file);
  try {
    await writeDraft(draft, encrypter, members);
    link(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  await sync(dirname(file));
}

async function writeDraft(
  draft: string,
  encrypter: Encrypter,
  members: AsyncIterable<Member>,
): Promise<void> {
  const tar = pack();
  const written = pipeline(
    tar,
    createGzip({ level: 1 }), // what is encrypted is stored as hex digits, which any level halves
    async function* encrypted(source: AsyncIterable<Uint8Array>) {
      yield* await encrypter.encrypt(ReadableStream.from(source) as ReadableStream<Uint8Array>);
    },
    createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
  );
  const packed = packAll(tar, members).catch((error: Error) => {
    tar.destroy(error);
    throw error;
  });
  const outcomes = await Promise.allSettled([packed, written]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function packAll(tar: Pack, members: AsyncIterable<Member>): Promise<void> {
  for await (const { name, content } of members) await packOne(tar, name, Buffer.from(content));
  tar.finalize();
}

/** Resolves when the reader of the tar file has taken the member. */
const packOne = (tar: Pack, name: string, content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    tar.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()));
  });

/** A link, unlike a rename, does not replace a file. */
function link(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? exists(file) : error;
  }
}

const exists = (file: string): ArchiveError =>
  new ArchiveError(`${file} exists; set BACKUP_FILE to a new file`);

async function sync(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // a folder cannot be opened there
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Removes what killed programs have left in a folder of archives. */
export function removeDrafts(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (/^\..*\.age\.new-[0-9a-f]{12}$/.test(name) && now - statSync(path).mtimeMs > draftMaxAgeMs)
      rmSync(path, { force: true });
  }
}
