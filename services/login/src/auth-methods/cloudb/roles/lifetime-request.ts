import type { LifetimeRequest } from '../../../tokens/token-lifetime.ts';
import type { RoleSettings } from './role-settings.ts';

/** The lifetime that a role requests for its tokens. */
export const lifetimeRequest = (role: RoleSettings): LifetimeRequest => ({
  ttlSeconds: role.token_ttl,
  maxTtlSeconds: role.token_max_ttl,
  explicitMaxTtlSeconds: role.token_explicit_max_ttl,
  periodSeconds: role.token_period,
});
