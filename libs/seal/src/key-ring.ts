import { readFileSync } from 'node:fs';

const keyBytes = 32;

/** A 256-bit key, and the id by which sealed bytes refer to it. */
export interface SealKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The keys of an installation: the first one seals, all of them open. */
export interface KeyRing {
  readonly current: SealKey;
  find(id: string): SealKey | undefined;
}

/**
 * Reads a key ring from a file: one key per line, `<id>:<key>`, newest first. The key is 32 bytes in base64 or hex. A line
 * without an id is the key `k1`. Empty lines and lines that begin with `#` are skipped.
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
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size !== keys.length) throw new Error(`${source} contains a key id twice`);
  return { current, find: (id) => byId.get(id) };
}

function parseLine(line: string, where: string): SealKey {
  const colon = line.indexOf(':');
  const id = colon === -1 ? 'k1' : line.slice(0, colon);
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
    throw new Error(`${where}: a key id is 1 to 32 letters, digits, _ or -`);
  return { id, bytes: decodeKey(line.slice(colon + 1), where) };
}

/** Decodes 32 bytes from base64 or hex. Throws an error that names `where`. */
export function decodeKey(text: string, where: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes) throw new Error(`${where}: a key is ${keyBytes} bytes in base64 or hex`);
  return bytes;
}
