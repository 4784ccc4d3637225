import { hash } from 'node:crypto';
import type { InternalKeys } from '@secrets/caller';
import { decrypt, encrypt, type KeyRing, pooledRandomBytes, type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';

/** Prefix of generated service tokens. Tokens that a user chooses must not begin with it. */
export const generatedPrefix = 'sst_';
const batchPrefix = 'sbt_';
const wrappingPrefix = 'swt_';
const serviceToken = /^sst_[A-Za-z0-9_-]{43}$/;
const wrappingToken = /^swt_[A-Za-z0-9_-]{43}$/;
/** A root token that an operator chose: 20 to 256 printable ASCII characters without the prefixes of generated tokens. */
const chosenToken = /^(?!s[sb]t_)[\x21-\x7e]{20,256}$/;
/** Maximum length of a batch token in characters: it has to fit into a header. */
const maxBatchTokenLength = 8_192;
const batchToken = /^sbt_[A-Za-z0-9_-]+$/;
const batchTokenAad = 'batch-token';

/** Generates a service token: `sst_` and 256 random bits in base64url (docs/conventions/access.md#tokens). */
export const newToken = (): Sealed<string> =>
  seal(generatedPrefix + pooledRandomBytes(32).toString('base64url'));

const accessorCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Bytes from here on are skipped: with them, the first characters would be more frequent than the others. */
const firstSkipped = 256 - (256 % accessorCharacters.length);

/** Generates an accessor, which identifies a token without granting its use: 24 random letters and digits. */
export function newAccessor(): string {
  let accessor = '';
  while (accessor.length < 24)
    for (const byte of pooledRandomBytes(32))
      if (byte < firstSkipped && accessor.length < 24)
        accessor += accessorCharacters[byte % accessorCharacters.length];
  return accessor;
}

/** Generates a wrapping token: `swt_` and 256 random bits in base64url (docs/conventions/access.md#response-wrapping). */
export const newWrappingToken = (): Sealed<string> =>
  seal(wrappingPrefix + pooledRandomBytes(32).toString('base64url'));

/**
 * Whether a text has the format of a wrapping token, which cannot authenticate requests: it can only be exchanged for
 * its response.
 */
export const isWrappingToken = (text: string): boolean => wrappingToken.test(text);

/** The SHA-256 under which a token is stored. */
export const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');

/** The kind of token by its format alone; undefined if the text cannot be a token. */
export function tokenKind(token: string): 'service' | 'batch' | undefined {
  if (isWrappingToken(token)) return undefined;
  if (serviceToken.test(token) || chosenToken.test(token)) return 'service';
  if (token.length <= maxBatchTokenLength && batchToken.test(token)) return 'batch';
  return undefined;
}

/** The payload of a batch token, which is not stored anywhere else (docs/conventions/access.md#batch-tokens). */
export const BatchToken = z.object({
  accessor: z.null(),
  namespace_id: z.string(),
  policies: z.array(z.string()),
  display_name: z.string(),
  entity_id: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  creation_path: z.string(),
  /** ISO 8601. */
  created_at: z.iso.datetime(),
  /** ISO 8601; a batch token always expires. */
  expires_at: z.iso.datetime(),
  bound_cidrs: z.array(z.string()),
  /** The token with which this one ends; null for an orphan. */
  parent_accessor: z.string().nullable(),
  /** The auth mount that issued it and with which it ends; null if none did. */
  mount_id: z.uuid().nullable(),
});
export type BatchToken = z.infer<typeof BatchToken>;

/** The key ring of batch tokens, derived from the internal key `login>batch-tokens`, which login and the gateway have. */
export function batchTokenKeyRing(keys: InternalKeys): KeyRing {
  const current = { id: 'b1', bytes: keys.keyFor('login', 'batch-tokens'), isBound: false };
  return { current, keys: [current], find: (id) => (id === current.id ? current : undefined) };
}

/**
 * Creates a batch token: `sbt_` and the encrypted payload.
 * @throws RangeError if it would exceed 8,192 characters
 */
export function sealBatchToken(keyRing: KeyRing, payload: BatchToken): Sealed<string> {
  const token =
    batchPrefix + encrypt(keyRing, batchTokenAad, Buffer.from(JSON.stringify(payload))).toString('base64url');
  if (token.length > maxBatchTokenLength)
    throw new RangeError('a batch token must have at most 8192 characters');
  return seal(token);
}

/** Decrypts a batch token. Returns undefined if this installation did not create it. Does not check its expiry. */
export function openBatchToken(keyRing: KeyRing, token: string): BatchToken | undefined {
  if (tokenKind(token) !== 'batch') return undefined;
  const sealed = Buffer.from(token.slice(batchPrefix.length), 'base64url');
  if (sealed.toString('base64url') !== token.slice(batchPrefix.length)) return undefined; // base64url has several encodings of the same bytes; accept one
  try {
    return BatchToken.parse(JSON.parse(decrypt(keyRing, batchTokenAad, sealed).toString()));
  } catch {
    return undefined;
  }
}
