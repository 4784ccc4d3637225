import { hash, randomBytes } from 'node:crypto';
import type { InternalKeys } from '@secrets/caller';
import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';

const servicePrefix = 'sst_';
const batchPrefix = 'sbt_';
const serviceToken = /^sst_[A-Za-z0-9_-]{43}$/;
/** A root token that an operator chose: taken as it is, so all that is known of it is what no other token is. */
const chosenToken = /^(?!s[sb]t_)[\x21-\x7e]{20,256}$/;
/** Longest batch token that is opened, in characters; it has to fit into a header. */
const maxBatchTokenLength = 8_192;
const batchToken = /^sbt_[A-Za-z0-9_-]+$/;
const batchTokenAad = 'batch-token';

/** A new service token: `sst_` and 256 random bits in base64url (docs/conventions.md#21-tokens). */
export const newToken = (): Sealed<string> => seal(servicePrefix + randomBytes(32).toString('base64url'));

/** A new accessor: names a token without being able to use it. 144 random bits in base64url. */
export const newAccessor = (): string => randomBytes(18).toString('base64url');

/** SHA-256 of a token, by which it is stored. */
export const tokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');

/** What a string is by its form alone; undefined when it can be no token of ours. */
export function tokenKind(token: string): 'service' | 'batch' | undefined {
  if (serviceToken.test(token) || isChosenToken(token)) return 'service';
  if (token.length <= maxBatchTokenLength && batchToken.test(token)) return 'batch';
  return undefined;
}

/** Whether a root token of an operator's own choice can be one: 20 to 256 printable ASCII characters, without our prefixes. */
export const isChosenToken = (token: string): boolean => chosenToken.test(token);

/** What a batch token says of itself: it is stored nowhere, cannot be renewed and has no accessor. */
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
  /** ISO 8601; a batch token always ends. */
  expires_at: z.iso.datetime(),
  bound_cidrs: z.array(z.string()),
  /** The token whose end is also this one's; null when it stands alone. */
  parent_accessor: z.string().nullable(),
  /** The auth mount that issued it, whose end is also this one's; null when none did. */
  mount_id: z.uuid().nullable(),
});
export type BatchToken = z.infer<typeof BatchToken>;

/** The key ring of batch tokens, made from the internal key `login>batch-tokens`, which login and the gateway hold. */
export function batchTokenKeyRing(keys: InternalKeys): KeyRing {
  const current = { id: 'b1', bytes: keys.keyFor('login', 'batch-tokens') };
  return { current, find: (id) => (id === current.id ? current : undefined) };
}

/** Makes a batch token: `sbt_` and the sealed payload. Its length grows with what it holds; over 8,192 characters it throws. */
export function sealBatchToken(keyRing: KeyRing, payload: BatchToken): Sealed<string> {
  const token =
    batchPrefix + encrypt(keyRing, batchTokenAad, Buffer.from(JSON.stringify(payload))).toString('base64url');
  if (token.length > maxBatchTokenLength) throw new RangeError('a batch token is at most 8192 characters');
  return seal(token);
}

/** What a batch token holds; undefined when it is not one that this installation made. Says nothing of its end. */
export function openBatchToken(keyRing: KeyRing, token: string): BatchToken | undefined {
  if (tokenKind(token) !== 'batch') return undefined;
  const sealed = Buffer.from(token.slice(batchPrefix.length), 'base64url');
  if (sealed.toString('base64url') !== token.slice(batchPrefix.length)) return undefined; // one spelling a token
  try {
    return BatchToken.parse(JSON.parse(decrypt(keyRing, batchTokenAad, sealed).toString()));
  } catch {
    return undefined;
  }
}
