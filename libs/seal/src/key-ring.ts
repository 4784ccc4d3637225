import { readFileSync } from 'node:fs';
import { isWrapped, parseKeyLines, type SealKey } from './key-lines.ts';

/** The keys of an installation: the first one seals, all of them open. */
export interface KeyRing {
  readonly current: SealKey;
  /** All keys, the current one first. */
  readonly keys: readonly SealKey[];
  find(id: string): SealKey | undefined;
}

/**
 * Reads a key ring from a file, in the form of `parseKeyLines`, without wrapped keys.
 * @throws an error with the file and line, never the key
 */
export function readKeyRing(file: string): KeyRing {
  return parseKeyRing(readFileSync(file, 'utf8'), file);
}

/** Like `readKeyRing`, from text. Errors name `source`. */
export function parseKeyRing(text: string, source: string): KeyRing {
  return keyRingOf(
    parseKeyLines(text, source).map((key) => {
      if (isWrapped(key)) throw new Error(`${source} contains the wrapped key ${key.id}`);
      return key;
    }),
  );
}

/** A ring of at least one key, whose first one seals. */
export function keyRingOf(keys: readonly SealKey[]): KeyRing {
  const [current] = keys;
  if (current === undefined) throw new Error('a key ring has at least one key');
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { current, keys, find: (id) => byId.get(id) };
}
