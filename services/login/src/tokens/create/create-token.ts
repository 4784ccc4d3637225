import { type Caller, maySudo } from '@secrets/caller';
import { invalid, Problem, permissionDenied } from '@secrets/domain';
import { seal } from '@secrets/seal';
import type { StoredToken } from '../../queries/tokens/stored-tokens.ts';
import { believedTokenByAccessor } from '../find-token.ts';
import { type IssuedToken, issueToken, type TokenContext } from '../issue-token.ts';
import { withinRole } from '../roles/apply-role.ts';
import { rolePolicies } from '../roles/role-policies.ts';
import type { TokenRole } from '../roles/role-settings.ts';
import { earliest, effectiveExpiry, planLifetime, secondsLeft } from '../token-lifetime.ts';
import { childCidrs, childPolicies } from './child-limits.ts';
import type { TokenRequest } from './token-request.ts';

export interface CreateTokenOptions {
  request: TokenRequest;
  orphan: boolean;
  creationPath: string;
  /** The token role that decides what the token may be. */
  role?: TokenRole | undefined;
}

/** Every check of a token reads its ancestors. */
const maxGenerations = 64;

/**
 * Creates a token as a child of the caller's, or as an orphan (docs/conventions/access.md#child-tokens). A request with
 * `no_parent` needs `sudo`, or a role of orphans. Throws `forbidden` if the caller may not create it, `invalid` if the
 * request is not valid, `conflict` if its ID is in use.
 */
export async function createToken(
  context: TokenContext,
  caller: Caller,
  { role, creationPath, ...options }: CreateTokenOptions,
): Promise<IssuedToken> {
  const now = new Date(context.db.now());
  requireMayCreate(caller, role?.orphan ? { ...options.request, no_parent: false } : options.request);
  const request = role === undefined ? options.request : withinRole(options.request, role);
  const orphan = options.orphan || (role?.orphan ?? false);
  const parent = await requireUsableParent(context, caller);
  const policies = requestedPolicies(caller, request, role);
  const type = request.type ?? 'service';
  if (type === 'batch') refuseBatchRequest(request, policies);
  const inheritsIdentity = !orphan && caller.namespace.id === caller.tokenNamespace.id;
  const lifetime = requestedLifetime(request, now, type === 'service' && policies.includes('root'));
  const token = await issueToken(context, {
    type,
    text: request.id ? seal(request.id) : undefined,
    parentAccessor: orphan ? null : caller.accessor,
    namespaceId: caller.namespace.id,
    displayName: request.display_name ? `token-${request.display_name}` : 'token',
    creationPath: role?.path_suffix ? `${creationPath}/${role.path_suffix}` : creationPath,
    policies,
    metadata: request.meta ?? {},
    boundCidrs: childCidrs(caller, parent.boundCidrs, request.bound_cidrs),
    renewable: (request.renewable ?? true) && lifetime.expiresAt !== null,
    lifetime,
    uses: request.num_uses || null,
    roleName: role?.name,
    owner: {
      entityId: orphan ? null : caller.entityId,
      identityPolicies: inheritsIdentity ? caller.identityPolicies : [],
    },
  });
  const expiresAt = earliest(lifetime.expiresAt, orphan ? null : effectiveExpiry(parent));
  return { ...token, leaseSeconds: secondsLeft(expiresAt, now) };
}

function requestedPolicies(caller: Caller, request: TokenRequest, role: TokenRole | undefined): string[] {
  const wanted = { policies: request.policies, withoutDefault: request.no_default_policy ?? false };
  return role === undefined ? childPolicies(caller, wanted) : rolePolicies(caller, role, wanted);
}

const requestedLifetime = (request: TokenRequest, now: Date, forever: boolean) =>
  planLifetime(
    {
      ttlSeconds: request.ttl,
      maxTtlSeconds: request.max_ttl,
      explicitMaxTtlSeconds: request.explicit_max_ttl,
      periodSeconds: request.period,
    },
    now,
    { forever },
  );

function requireMayCreate(caller: Caller, request: TokenRequest): void {
  if (caller.accessor === null) throw invalid('a batch token cannot create tokens');
  if (maySudo(caller)) return;
  if (request.no_parent)
    throw new Problem('forbidden', 'no_parent: needs sudo; auth/token/create-orphan does not');
  if (request.period) throw new Problem('forbidden', 'period: needs sudo');
  if (request.id) throw new Problem('forbidden', 'id: needs sudo');
}

async function requireUsableParent(context: TokenContext, { accessor }: Caller): Promise<StoredToken> {
  const parent = accessor === null ? undefined : await believedTokenByAccessor(context, accessor);
  if (parent === undefined || parent.isWithoutEntity) throw permissionDenied();
  if (parent.depth + 1 >= maxGenerations)
    throw invalid(`tokens can be created from each other in at most ${maxGenerations} generations`);
  if (parent.usesLeft !== null) throw invalid('a token with limited uses cannot create tokens');
  return parent;
}

function refuseBatchRequest(request: TokenRequest, policies: readonly string[]): void {
  if (request.id) throw invalid('id: a batch token cannot have a chosen ID');
  if (request.num_uses) throw invalid('num_uses: a batch token cannot have limited uses');
  if (request.period) throw invalid('period: a batch token cannot be periodic');
  if (policies.includes('root')) throw invalid('type: a batch token cannot have the root policy');
}
