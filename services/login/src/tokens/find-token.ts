import {
  type BatchToken,
  batchTokenExpiry,
  batchTokenKeyRing,
  openBatchToken,
  readBatchToken,
  tokenHash,
  tokenKind,
} from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { isWithin } from '../namespaces/namespace-path.ts';
import { storedTokenRow } from '../queries/tokens/bound-row.ts';
import { findTokenByAccessor, findTokenByHash, type StoredToken } from '../queries/tokens/stored-tokens.ts';
import type { TokenContext } from './issue-token.ts';

/**
 * The token of an accessor. Throws `not_found` if there is none in the caller's namespace or one below, or it is
 * refused because its entity is disabled or was deleted.
 */
export async function requireTokenByAccessor(
  context: TokenContext,
  caller: Caller,
  accessor: string,
): Promise<StoredToken> {
  return requireEnabled(requireReachable(caller, await believedTokenByAccessor(context, accessor)));
}

/** A service token that was sent in the body. Throws `not_found` in the same cases. */
export async function requireTokenByValue(
  context: TokenContext,
  caller: Caller,
  token: string,
): Promise<StoredToken> {
  return requireEnabled(
    requireReachable(caller, believed(context, await findTokenByHash(context.db, tokenHash(token)))),
  );
}

/**
 * A token that is to be revoked. A token of a disabled entity is found, too: it would be valid again when that is enabled. So
 * is one whose row is not believed, so that it can be deleted.
 */
export async function requireTokenToRevoke(
  { db }: TokenContext,
  caller: Caller,
  by: { accessor: string } | { token: string },
): Promise<StoredToken> {
  const found =
    'token' in by ? findTokenByHash(db, tokenHash(by.token)) : findTokenByAccessor(db, by.accessor);
  return requireReachable(caller, await found);
}

/** A batch token that was sent in the body. */
export interface FoundBatchToken {
  payload: BatchToken;
  namespacePath: string;
  identityPolicies: readonly string[];
  /** Its own expiry or its parent's, whichever comes first. */
  expiresAt: Date;
}

/**
 * A batch token that was sent in the body. Undefined if it is something else, has expired, belongs to a namespace that
 * is neither the caller's nor below it, or its entity is disabled or was deleted.
 */
export async function findBatchToken(
  context: TokenContext,
  caller: Caller,
  token: string,
): Promise<FoundBatchToken | undefined> {
  if (tokenKind(token) !== 'batch') return undefined;
  const payload = openBatchToken(batchTokenKeyRing(context.keys), token);
  if (payload === undefined) return undefined;
  const { row } = await readBatchToken(context.db, payload);
  if (row === undefined || !isWithin(row.namespace_path, caller.namespace.path)) return undefined;
  const expiresAt = batchTokenExpiry(payload, row) ?? 0;
  const isWithoutEntity = payload.entity_id !== null && row.identity_policies === null;
  if (expiresAt <= context.db.now() || isWithoutEntity) return undefined;
  return {
    payload,
    namespacePath: row.namespace_path,
    identityPolicies: row.identity_policies ?? [],
    expiresAt: new Date(expiresAt),
  };
}

/**
 * The caller's own token; undefined for a batch token, which is not stored. Throws `not_found` if it was just deleted,
 * or if `sent`, which is not part of the signed assertion, is the text of another token.
 */
export async function ownToken(
  context: TokenContext,
  caller: Caller,
  sent: Sealed<string> | undefined,
): Promise<StoredToken | undefined> {
  if (caller.accessor === null) return undefined;
  const token =
    sent === undefined
      ? await believedTokenByAccessor(context, caller.accessor)
      : believed(context, await findTokenByHash(context.db, tokenHash(sent.reveal())));
  if (token?.accessor !== caller.accessor) throw notFound();
  return requireEnabled(token);
}

/** The token of an accessor; undefined if it does not exist, has expired, or its row is not as it was written. */
export const believedTokenByAccessor = async (
  context: TokenContext,
  accessor: string,
): Promise<StoredToken | undefined> => believed(context, await findTokenByAccessor(context.db, accessor));

const believed = ({ rows }: TokenContext, token: StoredToken | undefined): StoredToken | undefined =>
  token !== undefined && rows.accepts(storedTokenRow(token), token.rowHash) ? token : undefined;

function requireEnabled(token: StoredToken): StoredToken {
  if (token.isWithoutEntity) throw notFound();
  return token;
}

function requireReachable(caller: Caller, token: StoredToken | undefined): StoredToken {
  const isUsedUp = token?.usesLeft === 0;
  if (token === undefined || isUsedUp || !isWithin(token.namespacePath, caller.namespace.path))
    throw notFound();
  return token;
}
