import { isWrappingToken, tokenHash } from '@secrets/access';
import type { Db } from '@secrets/db';
import { invalid } from '@secrets/domain';
import { decrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import {
  findWrappedResponse,
  takeWrappedResponse,
  type WrappedResponse,
} from '../queries/wrapped-responses.ts';
import { type WrapInfo, wrappedAad, wrapResponse } from './wrap-response.ts';

interface WrappingContext {
  db: Db;
  keyRing: KeyRing;
}

/** Returns the record of a wrapped response. Throws `invalid` if the token has none, or it has expired or was unwrapped. */
export async function requireWrappedResponse(
  { db }: WrappingContext,
  token: Sealed<string>,
): Promise<WrappedResponse> {
  return (await findWrappedResponse(db, tokenHash(requireFormat(token)))) ?? refuse();
}

/** The response of a wrapping token, which cannot be used again, even if the process dies before it responds. Throws as above. */
export async function unwrapResponse(
  { db, keyRing }: WrappingContext,
  token: Sealed<string>,
): Promise<Sealed<string>> {
  const hash = tokenHash(requireFormat(token));
  const { sealed } = (await takeWrappedResponse(db, hash)) ?? refuse();
  return seal(decrypt(keyRing, wrappedAad(hash), sealed).toString());
}

/** Exchanges a wrapping token for a new one, with the same response and a new lifetime of the same length. Throws as above. */
export async function rewrapResponse(
  { db, keyRing }: WrappingContext,
  token: Sealed<string>,
): Promise<WrapInfo> {
  const hash = tokenHash(requireFormat(token));
  return db.transaction(async (tx) => {
    const { sealed, ...taken } = (await takeWrappedResponse(tx, hash)) ?? refuse();
    const text = seal(decrypt(keyRing, wrappedAad(hash), sealed).toString());
    return wrapResponse(tx, keyRing, { ...taken, text });
  });
}

function requireFormat(token: Sealed<string>): string {
  return isWrappingToken(token.reveal()) ? token.reveal() : refuse();
}

function refuse(): never {
  throw invalid('the wrapping token does not exist, has expired, or was used');
}
