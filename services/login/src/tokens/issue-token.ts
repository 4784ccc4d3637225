import {
  type BatchToken,
  batchTokenKeyRing,
  newAccessor,
  newToken,
  type RowGuard,
  requireEvaluable,
  sealBatchToken,
  tokenHash,
} from '@secrets/access';
import type { InternalKeys } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation } from '@secrets/db';
import { invalid, Problem, permissionDenied } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { DbContext } from '../db-context.ts';
import { findPolicySize } from '../queries/policies.ts';
import { newTokenRow } from '../queries/tokens/bound-row.ts';
import { type LoginIdentity, type LoginOwner, upsertOwner } from '../queries/tokens/login-tokens.ts';
import { insertToken, type NewToken } from '../queries/tokens/new-tokens.ts';
import { findOwnerReasons, policiesReason } from './owner-reasons.ts';
import type { StoreLoginToken } from './store-login-token.ts';

/** The dependencies for issuing and finding tokens. */
export interface TokenContext extends DbContext {
  keys: InternalKeys;
  rows: RowGuard;
  storeLoginToken: StoreLoginToken;
}

/** A known entity, and the policies that a token has through it. */
interface Owner {
  entityId: string | null;
  identityPolicies: readonly string[];
}

/** A token to be issued; its accessor, and usually its text, do not exist yet. */
export interface TokenToIssue extends Omit<NewToken, 'hash' | 'accessor' | 'entityId' | 'rowHash'> {
  type: 'service' | 'batch';
  /** The text of a service token, if the request chose it. */
  text?: Sealed<string> | undefined;
  /** The entity that the token is for: known, or determined by a login. */
  owner: Owner | LoginIdentity;
}

/** A token that was just issued or renewed. */
export interface IssuedToken {
  /** Null where the token itself is not known, as after a renewal by its accessor. */
  token: Sealed<string> | null;
  accessor: string | null;
  policies: readonly string[];
  /** Of its entity and the groups of that. */
  identityPolicies: readonly string[];
  metadata: Record<string, string>;
  leaseSeconds: number;
  renewable: boolean;
  entityId: string | null;
  type: 'service' | 'batch';
  orphan: boolean;
  uses: number | null;
}

/**
 * Issues a token: the only place where one is created for a login or a parent. A service token is stored, a batch token
 * is sealed. Throws `forbidden` if the parent, the namespace or the auth mount was deleted in the meantime, or the policies are
 * too large together, `invalid` if a batch token is too long for a header, `conflict` if a token of the chosen text exists.
 */
export async function issueToken(context: TokenContext, token: TokenToIssue): Promise<IssuedToken> {
  if (!('mountId' in token.owner)) await requireEvaluablePolicies(context, token, token.owner);
  const issue = token.type === 'batch' ? issueBatchToken : issueServiceToken;
  return issue(context, token).catch((error: unknown) => {
    if (isUniqueViolation(error)) throw new Problem('conflict', 'id: a token of this ID exists');
    throw isForeignKeyViolation(error) ? permissionDenied() : error;
  });
}

async function requireEvaluablePolicies(
  { db }: TokenContext,
  { namespaceId, policies }: TokenToIssue,
  { identityPolicies }: Owner,
): Promise<void> {
  requireEvaluable(await findPolicySize(db, namespaceId, [...policies, ...identityPolicies]));
}

async function issueServiceToken(context: TokenContext, token: TokenToIssue): Promise<IssuedToken> {
  const secret = token.text ?? newToken();
  const { owner } = token;
  const identified = { ...token, hash: tokenHash(secret.reveal()), accessor: newAccessor() };
  const login = 'mountId' in owner ? owner : undefined;
  const stored = { ...identified, rowHash: context.rows.hashOf(newTokenRow(identified, login)) };
  if ('mountId' in owner) {
    const found = await usable(
      context,
      owner,
      await context.storeLoginToken({ token: stored, identity: owner }),
    );
    return { ...issued(token, found), token: secret, accessor: stored.accessor };
  }
  if (!(await insertToken(context.db, { ...stored, entityId: owner.entityId }))) throw permissionDenied();
  return { ...issued(token, owner), token: secret, accessor: stored.accessor };
}

async function issueBatchToken(context: TokenContext, token: TokenToIssue): Promise<IssuedToken> {
  const { owner } = token;
  const isLogin = 'mountId' in owner;
  const known = isLogin ? await usable(context, owner, await upsertOwner(context.db, owner, token)) : owner;
  const secret = sealedToken(context.keys, {
    accessor: null,
    namespace_id: token.namespaceId,
    policies: [...token.policies],
    display_name: token.displayName,
    entity_id: known.entityId,
    metadata: token.metadata,
    creation_path: token.creationPath,
    created_at: new Date(context.db.now()).toISOString(),
    expires_at: token.lifetime.expiresAt!.toISOString(), // only root tokens never expire, and those are not batch tokens
    bound_cidrs: [...token.boundCidrs],
    parent_accessor: token.parentAccessor,
    mount_id: isLogin ? owner.mountId : null,
  });
  return { ...issued(token, known), token: secret, accessor: null, renewable: false };
}

/** The owner of a login's token. Throws `forbidden` if there is none, or none of which the tokens could be used. */
async function usable(
  context: TokenContext,
  identity: LoginIdentity,
  owner: LoginOwner | undefined,
): Promise<LoginOwner> {
  const reason =
    owner === undefined ? await absenceReason(context, identity) : policiesReason(owner.identityPolicies);
  if (reason !== undefined) throw new Problem('forbidden', reason);
  if (owner === undefined) throw permissionDenied();
  requireEvaluable(owner);
  return owner;
}

async function absenceReason(context: TokenContext, identity: LoginIdentity): Promise<string | undefined> {
  const { entity, groups } = await findOwnerReasons(context, identity);
  return entity ?? groups;
}

function sealedToken(keys: InternalKeys, payload: BatchToken): Sealed<string> {
  try {
    return sealBatchToken(batchTokenKeyRing(keys), payload);
  } catch (error) {
    if (error instanceof RangeError)
      throw invalid('policies, meta and bound_cidrs are too long for a batch token');
    throw error;
  }
}

const issued = (token: TokenToIssue, { entityId, identityPolicies }: Owner) => ({
  policies: token.policies,
  identityPolicies,
  metadata: token.metadata,
  leaseSeconds: token.lifetime.ttlSeconds,
  renewable: token.renewable,
  entityId,
  type: token.type,
  orphan: token.parentAccessor === null,
  uses: token.uses,
});
