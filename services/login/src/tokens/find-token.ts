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
import type { Context } from '../context.ts';
import { isWithin } from '../namespaces/namespace-path.ts';
import { type StoredToken, tokenByAccessor, tokenByHash } from '../queries/tokens.ts';

/** The token of an accessor, when it stands in the caller's namespace or below; 404 otherwise. */
export async function findByAccessor(
  context: Context,
  caller: Caller,
  accessor: string,
): Promise<StoredToken> {
  return reachable(caller, await tokenByAccessor(context.db, accessor));
}

/** A token that was sent as a value, when it stands in the caller's namespace or below; 404 otherwise. */
export async function findByToken(context: Context, caller: Caller, token: string): Promise<StoredToken> {
  return reachable(caller, await tokenByHash(context.db, tokenHash(token)));
}

/** A batch token that was sent as a value. */
export interface FoundBatchToken {
  payload: BatchToken;
  namespacePath: string;
  /** Its own end or that of what it was made with, whichever comes first. */
  endsAt: Date;
}

/** The batch token of a value; undefined when it is none that is still valid and stands in the caller's namespace or below. */
export async function findBatchToken(
  context: Context,
  caller: Caller,
  token: string,
): Promise<FoundBatchToken | undefined> {
  if (tokenKind(token) !== 'batch') return undefined;
  const payload = openBatchToken(batchTokenKeyRing(context.keys), token);
  if (payload === undefined) return undefined;
  const { row } = await readBatchToken(context.db, payload);
  if (row === undefined || !isWithin(row.namespace_path, caller.namespace.path)) return undefined;
  const endsAt = batchTokenExpiry(payload, row) ?? 0;
  if (endsAt <= Date.now()) return undefined;
  return { payload, namespacePath: row.namespace_path, endsAt: new Date(endsAt) };
}

/** The caller's own token; undefined for a batch token, which is stored nowhere. */
export async function ownToken(context: Context, caller: Caller): Promise<StoredToken | undefined> {
  if (caller.accessor === null) return undefined;
  const token = await tokenByAccessor(context.db, caller.accessor);
  if (token === undefined) throw notFound();
  return token;
}

function reachable(caller: Caller, token: StoredToken | undefined): StoredToken {
  const isUsedUp = token?.usesLeft === 0;
  if (token === undefined || isUsedUp || !isWithin(token.namespacePath, caller.namespace.path))
    throw notFound();
  return token;
}
