import { invalid, setting } from '@secrets/domain';
import { z } from 'zod';
import type { TokenToIssue } from '../../tokens/issue-token.ts';
import { tokenSettings, withDefaultPolicy } from '../../tokens/token-fields.ts';
import { type LifetimeRequest, systemTtlSeconds } from '../../tokens/token-lifetime.ts';
import type { LoginEndpoint } from '../auth-method.ts';

const tokenTypes = ['default', 'service', 'batch', 'default-service', 'default-batch'] as const;
const tokenType = z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` });

/** The fields of every role about the tokens that it issues. */
export const roleTokenFields = {
  token_ttl: tokenSettings.token_ttl,
  token_max_ttl: tokenSettings.token_max_ttl,
  token_explicit_max_ttl: tokenSettings.token_explicit_max_ttl,
  token_period: tokenSettings.token_period,
  token_policies: tokenSettings.token_policies,
  token_bound_cidrs: tokenSettings.token_bound_cidrs,
  token_no_default_policy: tokenSettings.token_no_default_policy,
  token_num_uses: tokenSettings.token_num_uses,
  token_type: setting(tokenType, { default: 'default' }),
};

/** The part of a role that its tokens are made from. */
export type RoleTokens = {
  [Field in keyof typeof roleTokenFields]: z.output<(typeof roleTokenFields)[Field]['schema']>;
};

/** Whether a role's tokens are batch tokens. */
const isBatch = (role: Pick<RoleTokens, 'token_type'>): boolean => role.token_type.endsWith('batch');

/** Throws `invalid` if no token could be issued as the role says. */
export function refuseImpossibleToken(role: RoleTokens): void {
  const maxSeconds = Math.min(
    role.token_max_ttl || systemTtlSeconds,
    role.token_explicit_max_ttl || systemTtlSeconds,
    systemTtlSeconds,
  );
  if (role.token_ttl > maxSeconds) throw invalid('token_ttl: exceeds the maximum');
  if (role.token_max_ttl > systemTtlSeconds) throw invalid('token_max_ttl: exceeds 768h');
  if (role.token_period > systemTtlSeconds) throw invalid('token_period: exceeds 768h');
  if (role.token_policies.includes('root'))
    throw invalid('token_policies: a role cannot grant the root policy');
  if (!isBatch(role)) return;
  if (role.token_period > 0) throw invalid('token_period: a batch token cannot be periodic');
  if (role.token_num_uses > 0) throw invalid('token_num_uses: a batch token cannot have limited uses');
}

/** The lifetime that a role requests for its tokens. */
export const lifetimeRequest = (role: RoleTokens): LifetimeRequest => ({
  ttlSeconds: role.token_ttl,
  maxTtlSeconds: role.token_max_ttl,
  explicitMaxTtlSeconds: role.token_explicit_max_ttl,
  periodSeconds: role.token_period,
});

/**
 * The token of a login through a role, without its lifetime and its owner.
 * @param principal the name of the identity, for the display name
 */
export const tokenOfRole = (
  role: RoleTokens,
  at: LoginEndpoint,
  { principal, metadata }: { principal: string; metadata: Record<string, string> },
): Omit<TokenToIssue, 'lifetime' | 'owner'> => ({
  type: isBatch(role) ? 'batch' : 'service',
  parentAccessor: null,
  namespaceId: at.namespaceId,
  displayName: `${at.mount}-${principal}`,
  creationPath: `auth/${at.mount}/login`,
  policies: withDefaultPolicy(role.token_policies, role.token_no_default_policy),
  metadata,
  boundCidrs: role.token_bound_cidrs,
  renewable: !isBatch(role),
  uses: role.token_num_uses || null,
});
