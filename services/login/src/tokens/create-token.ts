import {
  type BatchToken,
  batchTokenKeyRing,
  newAccessor,
  newToken,
  sealBatchToken,
  tokenHash,
} from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid, permissionDenied } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { Context } from '../context.ts';
import {
  effectiveExpiry,
  insertToken,
  type NewToken,
  type StoredToken,
  tokenByAccessor,
} from '../queries/tokens.ts';
import { maySudo } from '../require-grant.ts';
import { childCidrs } from './child-cidrs.ts';
import { childPolicies } from './child-policies.ts';
import type { IssuedToken } from './present-auth.ts';
import { earliest, type Lifetime, planLifetime, secondsLeft } from './token-lifetime.ts';
import type { TokenRequest } from './token-request.ts';

export interface CreateTokenOptions {
  request: TokenRequest;
  orphan: boolean;
  creationPath: string;
}

/** Makes a token for the caller: a child of the caller's, unless an orphan is wanted (which needs `sudo`). */
export async function createToken(
  context: Context,
  caller: Caller,
  options: CreateTokenOptions,
): Promise<IssuedToken> {
  const { request } = options;
  const now = new Date();
  refuseForbiddenRequest(caller, options);
  const parent = await requireUsableParent(context, caller);
  const policies = childPolicies(caller, {
    policies: request.policies,
    withoutDefault: request.no_default_policy ?? false,
  });
  const type = request.type ?? 'service';
  if (type === 'batch') refuseBatchRequest(request, policies);
  const lifetime = planLifetime(
    {
      ttlSeconds: request.ttl,
      maxTtlSeconds: request.max_ttl,
      explicitMaxTtlSeconds: request.explicit_max_ttl,
      periodSeconds: request.period,
    },
    now,
    { forever: type === 'service' && policies.includes('root') },
  );
  const boundCidrs = childCidrs(caller, parent.boundCidrs, request.bound_cidrs);
  const token = { ...newTokenOf(caller, options, policies, lifetime), boundCidrs };
  const answer = type === 'batch' ? issueBatchToken(context, token) : await issueServiceToken(context, token);
  const endsAt = earliest(lifetime.expiresAt, options.orphan ? null : effectiveExpiry(parent));
  return { ...answer, leaseSeconds: secondsLeft(endsAt, now) };
}

function newTokenOf(
  caller: Caller,
  { request, orphan, creationPath }: CreateTokenOptions,
  policies: string[],
  lifetime: Lifetime,
): Omit<NewToken, 'hash' | 'accessor' | 'boundCidrs'> {
  return {
    parentAccessor: orphan ? null : caller.accessor,
    namespaceId: caller.namespace.id,
    displayName: request.display_name ? `token-${request.display_name}` : 'token',
    creationPath,
    policies,
    metadata: request.meta ?? {},
    entityId: orphan ? null : caller.entityId,
    renewable: (request.renewable ?? true) && lifetime.expiresAt !== null,
    lifetime,
    uses: request.num_uses || null,
  };
}

async function issueServiceToken(
  context: Context,
  unnamed: Omit<NewToken, 'hash' | 'accessor'>,
): Promise<IssuedToken> {
  const token = newToken();
  const stored = { ...unnamed, hash: tokenHash(token.reveal()), accessor: newAccessor() };
  await insertToken(context.db, stored);
  return issued(stored, token, 'service');
}

function issueBatchToken(context: Context, token: Omit<NewToken, 'hash' | 'accessor'>): IssuedToken {
  return issued({ ...token, accessor: null, renewable: false }, batchToken(context, token, null), 'batch');
}

/** Seals a batch token, of the auth mount that issues it if one does; a payload that does not fit into a header is the asker's to shorten. */
export function batchToken(
  context: Pick<Context, 'keys'>,
  token: Omit<NewToken, 'hash' | 'accessor'>,
  mountId: string | null,
): Sealed<string> {
  const payload: BatchToken = {
    accessor: null,
    namespace_id: token.namespaceId,
    policies: [...token.policies],
    display_name: token.displayName,
    entity_id: token.entityId,
    metadata: token.metadata,
    creation_path: token.creationPath,
    created_at: new Date().toISOString(),
    expires_at: token.lifetime.expiresAt!.toISOString(), // batch tokens are never made without an end
    bound_cidrs: [...token.boundCidrs],
    parent_accessor: token.parentAccessor,
    mount_id: mountId,
  };
  try {
    return sealBatchToken(batchTokenKeyRing(context.keys), payload);
  } catch (error) {
    if (error instanceof RangeError)
      throw invalid('policies, meta and bound_cidrs are too long for a batch token');
    throw error;
  }
}

export const issued = (
  token: Omit<NewToken, 'hash' | 'accessor'> & { accessor: string | null },
  secret: Sealed<string>,
  type: 'service' | 'batch',
): IssuedToken => ({
  token: secret,
  accessor: token.accessor,
  policies: token.policies,
  metadata: token.metadata,
  leaseSeconds: token.lifetime.ttlSeconds,
  renewable: token.renewable,
  entityId: token.entityId,
  type,
  orphan: token.parentAccessor === null,
  uses: token.uses,
});

function refuseForbiddenRequest(caller: Caller, { request, orphan }: CreateTokenOptions): void {
  if (caller.accessor === null) throw invalid('a batch token cannot make tokens');
  if ((orphan || (request.period ?? 0) > 0) && !maySudo(caller)) throw permissionDenied();
}

async function requireUsableParent(context: Context, caller: Caller): Promise<StoredToken> {
  const parent = caller.accessor === null ? undefined : await tokenByAccessor(context.db, caller.accessor);
  if (parent === undefined) throw permissionDenied();
  if (parent.usesLeft !== null) throw invalid('a token with limited uses cannot make tokens');
  return parent;
}

function refuseBatchRequest(request: TokenRequest, policies: readonly string[]): void {
  if (request.num_uses) throw invalid('num_uses: a batch token has no limited uses');
  if (request.period) throw invalid('period: a batch token cannot be periodic');
  if (request.renewable) throw invalid('renewable: a batch token cannot be renewed');
  if (policies.includes('root')) throw invalid('type: a batch token cannot carry the root policy');
}
