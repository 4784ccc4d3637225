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

/** A key of a key file that a key service has wrapped (docs/adr/0053-wrapped-seal-keys.md). */
export interface WrappedKey {
  readonly id: string;
  readonly isBound: boolean;
  /** The name of the key service, such as `awskms`. */
  readonly service: string;
  /** The key of the service that wraps this one, as the service names it. */
  readonly wrappedWith: string;
  readonly ciphertext: Buffer;
}

export type KeyLine = SealKey | WrappedKey;

export const isWrapped = (key: KeyLine): key is WrappedKey => 'ciphertext' in key;

/** The text of a key in a key file, without a line break. */
export const keyLineText = (key: KeyLine): string =>
  [
    key.id,
    ...(isWrapped(key) ? [key.service, key.wrappedWith, key.ciphertext] : [key.bytes]).map((part) =>
      typeof part === 'string' ? part : part.toString('base64'),
    ),
  ].join(':') + (key.isBound ? ' bound' : '');

/**
 * Parses the text of a key file: one key per line, `<id>:<key>`, newest first, with ` bound` at the end for a bound key. The
 * key is 32 bytes in base64 or hex; a line without an id is the key `k1`. A wrapped key is
 * `<id>:<service>:<key of the service>:<ciphertext in base64>`. Empty lines and lines that begin with `#` are skipped.
 * @throws an error with the source, the line and the id, never the key
 */
export function parseKeyLines(text: string, source: string): KeyLine[] {
  const keys = text
    .split('\n')
    .map((line, index) => parseKeyLine(line, `${source}, line ${index + 1}`))
    .filter((key) => key !== undefined);
  if (keys.length === 0)
    throw new Error(`${source} contains no key; create one with: openssl rand -base64 32`);
  if (new Set(keys.map(({ id }) => id)).size !== keys.length)
    throw new Error(`${source} contains a key id twice`);
  return keys;
}

/** Parses one line of a key file. Returns undefined for a comment or an empty line. Errors begin with `where`. */
export function parseKeyLine(untrimmed: string, where: string): KeyLine | undefined {
  const line = untrimmed.trim();
  if (line === '' || line.startsWith('#')) return undefined;
  const colon = line.indexOf(':');
  const id = colon === -1 ? 'k1' : line.slice(0, colon);
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(id))
    throw new Error(`${where}: a key id is 1 to 32 letters, digits, _ or -`);
  const text = line.slice(colon + 1);
  const key = text.replace(/\s+bound$/, '');
  const isBound = key !== text;
  if (!key.includes(':')) return { id, isBound, bytes: decodeKey(key, where) };
  return { id, isBound, ...wrappedKey(key, `${where}: the wrapped key ${id}`) };
}

/** The name of the key may contain colons, as that of an AWS key does; a ciphertext in base64 does not. */
function wrappedKey(text: string, what: string): Pick<WrappedKey, 'service' | 'wrappedWith' | 'ciphertext'> {
  const [, service, wrappedWith, base64] =
    /^([a-z]{1,32}):(\S{1,1000}):([A-Za-z0-9+/]{4,8000}={0,2})$/.exec(text) ?? [];
  if (service === undefined || wrappedWith === undefined || base64 === undefined)
    throw new Error(`${what} must have the form <id>:<service>:<key of the service>:<ciphertext in base64>`);
  return { service, wrappedWith, ciphertext: Buffer.from(base64, 'base64') };
}

/** Decodes 32 bytes from base64 or hex. Throws an error that names `where`. */
export function decodeKey(text: string, where: string): Buffer {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes) throw new Error(`${where}: a key is ${keyBytes} bytes in base64 or hex`);
  return bytes;
}
