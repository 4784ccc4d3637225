import { areRangesWithin } from '@secrets/access';
import { invalid } from '@secrets/domain';
import type { TokenRequest } from '../create/token-request.ts';
import type { TokenRoleSettings } from './role-settings.ts';

/** A request for a token within the limits of a role. Its policies are decided elsewhere. */
export function withinRole(request: TokenRequest, role: TokenRoleSettings): TokenRequest {
  const type = typeOf(role, request.type);
  const isBatch = type === 'batch';
  return {
    ...request,
    type,
    explicit_max_ttl: lower(request.explicit_max_ttl, role.token_explicit_max_ttl),
    period: lower(request.period, isBatch ? 0 : role.token_period),
    num_uses: lower(request.num_uses, isBatch ? 0 : role.token_num_uses),
    renewable: isBatch ? request.renewable : role.renewable && (request.renewable ?? true),
    bound_cidrs: narrower(request.bound_cidrs, role.token_bound_cidrs),
  };
}

/** Command lines always send a type, so one that the role excludes is not an error. */
function typeOf({ token_type: type }: TokenRoleSettings, requested: TokenRequest['type']) {
  if (type === 'default-service') return requested ?? 'service';
  if (type === 'default-batch') return requested ?? 'batch';
  return type;
}

/** The lower of two limits; 0 and undefined are none. */
const lower = (a = 0, b = 0): number => Math.min(a || Infinity, b || a || 0);

function narrower(requested: readonly string[] | undefined, ofRole: readonly string[]): string[] {
  if (requested === undefined || requested.length === 0) return [...ofRole];
  if (ofRole.length > 0 && !areRangesWithin(requested, ofRole))
    throw invalid("bound_cidrs must lie within the role's");
  return [...requested];
}
