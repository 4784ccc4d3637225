import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorCode } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { Decrypter } from 'age-encryption';
import { type Extract, extract } from 'tar-stream';
import { ArchiveError } from './archive-error.ts';
import { foreign } from './manifest.ts';

/** A file in the archive. Its content must be taken before the next one is read. */
export interface ReadMember {
  name: string;
  content: AsyncIterable<Uint8Array>;
}

const firstLine = 'age-encryption.org/v1\n';

/**
 * Reads an archive from its beginning to its end, and calls `use` with its members. A few blocks at a time are in memory. Each
 * block is authenticated before `use` receives it.
 * @throws {ArchiveError} if it is missing, is not encrypted for this key, or is damaged or truncated; what `use` throws
 */
export async function readArchive<T>(
  file: string,
  decrypter: Sealed<Decrypter>,
  use: (members: AsyncGenerator<ReadMember>) => Promise<T>,
): Promise<T> {
  await requireAge(file);
  const tar = extract();
  const read = pipeline(createReadStream(file), decrypted(decrypter), createGunzip(), tar);
  // What broke the archive is the cause of what its reader then throws.
  let broken: unknown;
  const ended = read.catch((error: unknown) => {
    broken = error;
  });
  try {
    const result = await use(membersOf(tar));
    await ended;
    if (broken !== undefined) throw unreadable(file, broken);
    return result;
  } catch (error) {
    tar.destroy();
    await ended;
    throw isOwn(error) ? error : broken === undefined || isAborted(broken) ? error : unreadable(file, broken);
  }
}

const decrypted = (decrypter: Sealed<Decrypter>) =>
  async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const stream = ReadableStream.from(source) as ReadableStream<Uint8Array>;
    yield* await decrypter.reveal().decrypt(stream);
  };

async function* membersOf(tar: Extract): AsyncGenerator<ReadMember> {
  for await (const entry of tar) {
    yield { name: entry.header.name, content: entry as AsyncIterable<Uint8Array> };
    entry.resume();
  }
}

async function requireAge(file: string): Promise<void> {
  const handle = await open(file).catch((error: unknown) => {
    throw errorCode(error) === 'ENOENT' ? new ArchiveError(`${file} does not exist`) : error;
  });
  const { buffer, bytesRead } = await handle
    .read(Buffer.alloc(firstLine.length), 0, firstLine.length)
    .finally(() => handle.close());
  if (buffer.toString('latin1', 0, bytesRead) !== firstLine) throw foreign();
}

const isOwn = (error: unknown): boolean => error instanceof ArchiveError;

/** The reader has ended before the archive. */
const isAborted = (error: unknown): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'].includes(errorCode(error) ?? '');

function unreadable(file: string, cause: unknown): Error {
  if (isOwn(cause)) return cause as ArchiveError;
  if (/no identity matched/.test(String(cause)))
    return new ArchiveError(`${file} was not encrypted for this identity or passphrase`);
  if (/^E[A-Z]+$/.test(errorCode(cause) ?? '')) return cause as Error; // of the file system
  return new ArchiveError(`${file} is damaged or truncated`);
}

/** Reads a small member. */
export async function readText({ content }: ReadMember, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw foreign();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
