import { readFileSync } from 'node:fs';

const keyBytes = 32;

/** A 256-bit key, and the id by which sealed bytes refer to it. */
export interface SealKey {
  readonly id: string;
  readonly bytes: Buffer;
  /**
   * Seals with the bound form of associated data, and opens no other (docs/adr/0046-bound-credentials.md). With a bound row
   * key, no row without a hash is believed (docs/adr/0047-bound-rows.md).
   */
  readonly isBound: boolean;
}

/** The keys of an installation: the first one seals, all of them open. */
export interface KeyRing {
  readonly current: SealKey;
  /** All keys, the current one first. */
  readonly keys: readonly SealKey[];
  find(id: string): SealKey | undefined;
}

/** A key ring whose file can be read again. */
export interface KeyFile extends KeyRing {
  /**
   * Reads the file again. From then on, its first key encrypts. A key that is no longer in the file still decrypts, until the
   * process ends: the next start checks whether it is needed.
   * @throws if the file is unusable, lacks the current key, or contains another key under a known id; the keys are then those
   *   of before
   */
  reload(): void;
}

/**
 * Reads a key ring from a file: one key per line, `<id>:<key>`, newest first, with ` bound` at the end for a bound key. The
 * key is 32 bytes in base64 or hex. A line without an id is the key `k1`. Empty lines and lines that begin with `#` are skipped.
 * @throws an error with the file and line, never the key
 */
export function readKeyRing(file: string): KeyRing {
  return parseKeyRing(readFileSync(file, 'utf8'), file);
}

/** Like `readKeyRing`, from text. Errors name `source`. */
export function parseKeyRing(text: string, source: string): KeyRing {
  const keys = text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), where: `${source}, line ${index + 1}` }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, where }) => parseLine(line, where));
  const [current] = keys;
  if (current === undefined)
    throw new Error(`${source} contains no key; create one with: openssl rand -base64 32`);
  const ring = keyRingOf(current, keys);
  if (new Set(keys.map(({ id }) => id)).size !== keys.length)
    throw new Error(`${source} contains a key id twice`);
  return ring;
}

function keyRingOf(current: SealKey, keys: readonly SealKey[]): KeyRing {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { current, keys, find: (id) => byId.get(id) };
}

const missesAtMostEveryMs = 1_000;

/**
 * Reads a key ring from a file that may change. If bytes name an unknown key, the file is read again, at most once a second:
 * another process may have read a new key before this one.
 * @throws like `readKeyRing`
 */
export function openKeyFile(file: string): KeyFile {
  let ring = readKeyRing(file);
  let lastMissAt = Number.NEGATIVE_INFINITY;
  const reload = () => {
    ring = merged(ring, readKeyRing(file), file);
  };
  const findAgain = (id: string): SealKey | undefined => {
    if (performance.now() - lastMissAt < missesAtMostEveryMs) return undefined;
    lastMissAt = performance.now();
    try {
      reload();
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
  return keyRingOf(read.current, [...read.keys, ...left]);
}

function parseLine(line: string, where: string): SealKey {
  const colon = line.indexOf(':');
  const id = colon === -1 ? 'k1' : line.slice(0, colon);
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
    throw new Error(`${where}: a key id is 1 to 32 letters, digits, _ or -`);
  const text = line.slice(colon + 1);
  const key = text.replace(/\s+bound$/, '');
  return { id, bytes: decodeKey(key, where), isBound: key !== text };
}

/** Decodes 32 bytes from base64 or hex. Throws an error that names `where`. */
export function decodeKey(text: string, where: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes) throw new Error(`${where}: a key is ${keyBytes} bytes in base64 or hex`);
  return bytes;
}
