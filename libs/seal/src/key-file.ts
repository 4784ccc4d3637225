import { readFileSync } from 'node:fs';
import {
  isWrapped,
  type KeyLine,
  keyLineText,
  parseKeyLines,
  type SealKey,
  type WrappedKey,
} from './key-lines.ts';
import { type KeyRing, keyRingOf } from './key-ring.ts';

/** Returns the 32 bytes of a wrapped key. */
export type Unwrap = (key: WrappedKey) => Promise<Buffer>;

/** A key ring whose file can be read again. */
export interface KeyFile extends KeyRing {
  /**
   * Reads the file again. From then on, its first key encrypts. A key that is no longer in the file still decrypts, until the
   * process ends: the next start checks whether it is needed. Only lines that are new are unwrapped.
   * @throws if the file is unusable, a key cannot be unwrapped, the file lacks the current key, or contains another key under a
   *   known id; the keys are then those of before
   */
  reload(): Promise<void>;
}

const missesAtMostEveryMs = 1_000;
/** A file that changes while its keys are unwrapped is read again, this often. */
const maxReads = 5;

/**
 * Reads a key ring from a file that may change, in the form of `parseKeyLines`. If bytes name an unknown key, the file is read
 * again, at most once a second: another process may have read a new key before this one. A new key that is wrapped is then
 * there as soon as it is unwrapped; until then, bytes that need it cannot be opened.
 * @throws an error with the file and the line or the id, never the key; the error of `unwrap`
 */
export async function openKeyFile(file: string, unwrap: Unwrap = refuseWrapped): Promise<KeyFile> {
  const lines = new KeyLines(file, unwrap);
  let ring = keyRingOf(await lines.read());
  let lastMissAt = Number.NEGATIVE_INFINITY;
  const reload = async () => {
    const read = await lines.read();
    ring = merged(ring, keyRingOf(read), file);
  };
  const findAgain = (id: string): SealKey | undefined => {
    if (performance.now() - lastMissAt < missesAtMostEveryMs) return undefined;
    lastMissAt = performance.now();
    try {
      const read = lines.readKnown();
      if (read === undefined) void reload().catch(() => undefined);
      else ring = merged(ring, keyRingOf(read), file);
    } catch {
      return undefined; // whoever reloads it in the background reports what is wrong
    }
    return ring.find(id);
  };
  return {
    get current() {
      return ring.current;
    },
    get keys() {
      return ring.keys;
    },
    find: (id) => ring.find(id) ?? findAgain(id),
    reload,
  };
}

/** The keys of a file, of which each wrapped one is unwrapped once. */
class KeyLines {
  readonly #file: string;
  readonly #unwrap: Unwrap;
  /** By the text of the line, so that a line that has changed is unwrapped again. */
  #unwrapped = new Map<string, Buffer>();

  constructor(file: string, unwrap: Unwrap) {
    this.#file = file;
    this.#unwrap = unwrap;
  }

  /** Returns what the file contains at this moment. */
  async read(): Promise<SealKey[]> {
    for (let reads = 1; reads <= maxReads; reads++) {
      const known = this.readKnown();
      if (known !== undefined) return known;
      await this.#unwrapAll();
    }
    throw new Error(`${this.#file} changes again and again`);
  }

  /** Like `read`; undefined if a key of the file has to be unwrapped first. */
  readKnown(): SealKey[] | undefined {
    const lines = this.#lines();
    const keys = lines.map((line) => (isWrapped(line) ? this.#known(line) : line));
    return keys.every((key) => key !== undefined) ? keys : undefined;
  }

  #lines(): KeyLine[] {
    return parseKeyLines(readFileSync(this.#file, 'utf8'), this.#file);
  }

  #known(line: WrappedKey): SealKey | undefined {
    const bytes = this.#unwrapped.get(keyLineText(line));
    return bytes && { id: line.id, isBound: line.isBound, bytes };
  }

  async #unwrapAll(): Promise<void> {
    const wrapped = this.#lines().filter(isWrapped);
    const bytes = await Promise.allSettled(
      wrapped.map(async (line) => this.#known(line)?.bytes ?? checkedLength(await this.#unwrap(line), line)),
    );
    for (const [index, line] of wrapped.entries()) {
      const result = bytes[index];
      if (result?.status === 'fulfilled') this.#unwrapped.set(keyLineText(line), result.value);
    }
    const failed = bytes.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

function checkedLength(bytes: Buffer, { id }: WrappedKey): Buffer {
  if (bytes.length !== 32) throw new Error(`the wrapped key ${id} is not one of 32 bytes`);
  return bytes;
}

const refuseWrapped: Unwrap = async ({ id }) => {
  throw new Error(`the key ${id} is wrapped by a key service, which is not used here`);
};

function merged(former: KeyRing, read: KeyRing, file: string): KeyRing {
  for (const { id, bytes, isBound } of read.keys) {
    const known = former.find(id);
    if (known === undefined) continue;
    if (!known.bytes.equals(bytes) || known.isBound !== isBound)
      throw new Error(`${file} contains another key under the id ${id}; a new key needs a new id`);
  }
  // Data would be encrypted with a key that disappears when the mistake is corrected.
  if (read.find(former.current.id) === undefined)
    throw new Error(
      `${file} lacks the current key ${former.current.id}; keep its line until a rotation is complete`,
    );
  const left = former.keys.filter(({ id }) => read.find(id) === undefined);
  return keyRingOf([...read.keys, ...left]);
}
