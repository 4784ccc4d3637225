import {
  newAccessor,
  newWrappingToken,
  readWrappedBytes,
  tokenHash,
  wrappedSpaceFull,
} from '@secrets/access';
import type { Sql } from '@secrets/db';
import { encrypt, type KeyRing, type Sealed } from '@secrets/seal';
import { insertWrappedResponse, type WrappedResponse } from '../queries/wrapped-responses.ts';

export interface ResponseToWrap {
  /** The body, as JSON. */
  text: Sealed<string>;
  namespaceId: string;
  creationPath: string;
  ttlSeconds: number;
  wrappedAccessor: string | null;
}

/** The data that the client gets instead of the response. */
export interface WrapInfo extends WrappedResponse {
  token: Sealed<string>;
}

/** The associated data of a wrapped response: it can only be decrypted in the row of its wrapping token. */
export const wrappedAad = (hash: Buffer): string => `wrapped-response/${hash.toString('hex')}`;

/**
 * Encrypts and stores a response under a new wrapping token (docs/adr/0021-response-wrapping.md). Throws `queue_full` if
 * those of the namespace take too much space.
 */
export async function wrapResponse(
  sql: Sql,
  keyRing: KeyRing,
  { text, ...response }: ResponseToWrap,
): Promise<WrapInfo> {
  const token = newWrappingToken();
  const hash = tokenHash(token.reveal());
  const accessor = newAccessor();
  const sealed = encrypt(keyRing, wrappedAad(hash), Buffer.from(text.reveal()));
  const createdAt = await insertWrappedResponse(sql, { ...response, hash, accessor, sealed });
  if (createdAt === undefined) throw wrappedSpaceFull(await readWrappedBytes(sql, response.namespaceId));
  return { ...response, token, accessor, createdAt };
}

/** The end of a response without a token: whatever precedes it, its last bracket ends the envelope. */
const noToken = '"auth":null}';

/** The accessor of the token in a response; null if it contains none. A large response is not parsed for that. */
export function wrappedAccessorIn(text: Sealed<string>): string | null {
  if (text.reveal().endsWith(noToken)) return null;
  const { auth } = JSON.parse(text.reveal()) as { auth?: { accessor?: unknown } | null };
  return typeof auth?.accessor === 'string' && auth.accessor !== '' ? auth.accessor : null;
}

/** The `wrap_info` of a response: besides `auth`, the only place where a token leaves the service. */
export const presentWrapInfo = (info: WrapInfo): Record<string, unknown> => ({
  token: info.token.reveal(),
  accessor: info.accessor,
  ttl: info.ttlSeconds,
  creation_time: info.createdAt.toISOString(),
  creation_path: info.creationPath,
  ...(info.wrappedAccessor === null ? {} : { wrapped_accessor: info.wrappedAccessor }),
});
