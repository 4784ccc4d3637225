import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeKey } from '@secrets/seal';

/** Keys with which one service proves to another who it is and for whom it asks: one key a direction. */
export interface InternalKeys {
  /** The key of `from` speaking to `to`. Throws when this installation's file does not hold it. */
  keyFor(from: string, to: string): Buffer;
}

/**
 * Reads `INTERNAL_KEY_FILE`. Two forms:
 * - one line, 32 bytes in base64 or hex: the installation's key, from which each direction's key is derived;
 * - lines `<from>><to>:<key>`: only the directions that this service needs, so that one service's file does not
 *   let it speak for another. `deriveInternalKeys` makes them.
 */
export function readInternalKeys(file: string): InternalKeys {
  return parseInternalKeys(readFileSync(file, 'utf8'), file);
}

export function parseInternalKeys(text: string, source: string): InternalKeys {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first] = lines;
  if (first === undefined) throw new Error(`${source} holds no key; make one with: openssl rand -base64 32`);
  if (!first.includes('>')) return derived(decodeKey(first, source));
  const keys = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')),
      decodeKey(line.slice(line.indexOf(':') + 1), source),
    ]),
  );
  return {
    keyFor: (from, to) => {
      const key = keys.get(`${from}>${to}`);
      if (key === undefined) throw new Error(`${source} holds no key for ${from}>${to}`);
      return key;
    },
  };
}

/** The lines of a service's own key file: each direction in which it speaks or is spoken to. */
export function deriveInternalKeys(
  installationKey: Buffer,
  directions: readonly (readonly [from: string, to: string])[],
): string {
  const keys = derived(installationKey);
  return directions
    .map(([from, to]) => `${from}>${to}:${keys.keyFor(from, to).toString('base64')}\n`)
    .join('');
}

function derived(installationKey: Buffer): InternalKeys {
  const cache = new Map<string, Buffer>();
  return {
    keyFor: (from, to) => {
      const direction = `${from}>${to}`;
      const known =
        cache.get(direction) ??
        Buffer.from(hkdfSync('sha256', installationKey, '', `assertion ${direction}`, 32));
      cache.set(direction, known);
      return known;
    },
  };
}
