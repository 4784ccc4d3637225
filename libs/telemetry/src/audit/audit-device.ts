import { close, fstat, mkdir, open, type Stats, write } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** File of an audit device. Only one `append` runs at a time. */
export interface DeviceFile {
  /** How many bytes one `append` should have at most; a longer line is passed alone. */
  readonly maxBytes: number;
  /** Resolves when the whole text is written. Rejects if it is not; a part may be. */
  append(text: string): Promise<void>;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Number of bytes that the kernel writes to a pipe atomically (POSIX, PIPE_BUF), so that a line of the log cannot end up
 * inside.
 */
const pipeBytes = 4_096;
const fileBytes = 262_144;
const retryMs = 5;
const lineFeed = 10;

const [openAsync, closeAsync, statAsync, mkdirAsync] = [
  promisify(open),
  promisify(close),
  promisify(fstat),
  promisify(mkdir),
];

/** Opens a file for appending. Its folder is created if it does not exist. */
export async function openFile(path: string): Promise<DeviceFile> {
  await mkdirAsync(dirname(path), { recursive: true });
  const reopen = () => openAsync(path, 'a', 0o600);
  const descriptor = await reopen();
  return new Appended(descriptor, bytesAtOnce(await statAsync(descriptor)), reopen);
}

export async function standardOutput(): Promise<DeviceFile> {
  return new Appended(1, bytesAtOnce(await statAsync(1)));
}

const bytesAtOnce = (stats: Stats): number => (stats.isFile() ? fileBytes : pipeBytes);

interface OpenFile {
  descriptor: number;
  /** A write failed in the middle of a line, as on a full disk. */
  endsInLine: boolean;
}

/** Writes with the threads of `fs`, so that a slow disk does not stop the event loop. */
class Appended implements DeviceFile {
  readonly maxBytes: number;
  readonly #open: (() => Promise<number>) | undefined;
  #file: OpenFile;
  #writing: Promise<void> = Promise.resolve();

  /** Without `open`, the descriptor is not the device's own: it is neither opened again nor closed. */
  constructor(descriptor: number, maxBytes: number, open?: () => Promise<number>) {
    this.#file = { descriptor, endsInLine: false };
    this.maxBytes = maxBytes;
    this.#open = open;
  }

  append(text: string): Promise<void> {
    this.#writing = writeAll(this.#file, text);
    return this.#writing;
  }

  async reopen(): Promise<void> {
    if (this.#open === undefined) return;
    const descriptor = await this.#open();
    const { descriptor: before } = this.#file;
    this.#file = { descriptor, endsInLine: false };
    await this.#release(before);
  }

  async close(): Promise<void> {
    if (this.#open !== undefined) await this.#release(this.#file.descriptor);
  }

  async #release(descriptor: number): Promise<void> {
    await this.#writing.catch(() => undefined); // reported to whoever requested it
    await closeAsync(descriptor);
  }
}

async function writeAll(file: OpenFile, text: string): Promise<void> {
  const bytes = Buffer.from(file.endsInLine ? `\n${text}` : text);
  let written = 0;
  try {
    while (written < bytes.length) written += await writeSome(file.descriptor, bytes, written);
  } finally {
    if (written > 0) file.endsInLine = bytes[written - 1] !== lineFeed;
  }
}

/** Writes as much as the device accepts; 0 bytes if it is a pipe that is full and does not block. */
function writeSome(descriptor: number, bytes: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, from, bytes.length - from, null, (error, count) => {
      if (error === null) resolve(count);
      else if (error.code === 'EAGAIN') resolve(sleep(retryMs, 0));
      else reject(error);
    });
  });
}
