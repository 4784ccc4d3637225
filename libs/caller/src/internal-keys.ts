import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeKey } from '@secrets/seal';

/** Keys with which one service proves to another its own identity and that of the caller: one key per direction. */
export interface InternalKeys {
  /**
   * The key with which `from` signs requests to `to`.
   * @throws if the key file does not contain it
   */
  keyFor(from: string, to: string): Buffer;
  /** Returns the time that signatures are made and verified by, in milliseconds since 1970; the same for all services. */
  now(): number;
}

/**
 * Reads `INTERNAL_KEY_FILE`, and further files with keys if there are any. Two forms:
 * - one line, 32 bytes in base64 or hex: the installation's key, from which each direction's key is derived;
 * - lines `<from>><to>:<key>`: only the directions that this service needs, so that it cannot impersonate another one.
 *   `deriveInternalKeys` creates them.
 * @param clock that of the database, which all services share
 */
export function readInternalKeys(clock: { now(): number }, ...files: readonly string[]): InternalKeys {
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  return parseInternalKeys(text, files.join(', '), clock);
}

export function parseInternalKeys(
  text: string,
  source: string,
  { now }: { now(): number } = { now: () => Date.now() },
): InternalKeys {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first] = lines;
  if (first === undefined)
    throw new Error(`${source} contains no key; create one with: openssl rand -base64 32`);
  if (!first.includes('>')) return { keyFor: derived(decodeKey(first, source)), now };
  const keys = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')),
      decodeKey(line.slice(line.indexOf(':') + 1), source),
    ]),
  );
  return {
    keyFor: (from, to) => {
      const key = keys.get(`${from}>${to}`);
      if (key === undefined) throw new Error(`${source} contains no key for ${from}>${to}`);
      return key;
    },
    now,
  };
}

/** Creates the content of one service's key file: a line for each direction in which it sends or receives requests. */
export function deriveInternalKeys(
  installationKey: Buffer,
  directions: readonly (readonly [from: string, to: string])[],
): string {
  const keyFor = derived(installationKey);
  return directions.map(([from, to]) => `${from}>${to}:${keyFor(from, to).toString('base64')}\n`).join('');
}

function derived(installationKey: Buffer): InternalKeys['keyFor'] {
  const cache = new Map<string, Buffer>();
  return (from, to) => {
    const direction = `${from}>${to}`;
    const key =
      cache.get(direction) ??
      Buffer.from(hkdfSync('sha256', installationKey, '', `assertion ${direction}`, 32));
    cache.set(direction, key);
    return key;
  };
}
