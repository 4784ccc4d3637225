import { invalid, withoutNul } from '@secrets/domain';
import { flag, seconds, stringList } from '@secrets/http';
import { z } from 'zod';
import { cidrList, count, policyNames } from '../../../tokens/token-fields.ts';
import { systemTtlSeconds } from '../../../tokens/token-lifetime.ts';

const maxBounds = 1_000;
const bounds = stringList
  .refine((list) => list.length <= maxBounds, { error: `must have at most ${maxBounds} items` })
  .refine((list) => list.every((part) => part.length <= 512), {
    error: 'items must have at most 512 characters',
  })
  .meta({ type: 'array', maxItems: maxBounds, items: { type: 'string', maxLength: 512, ...withoutNul } });
const policies = policyNames.transform((list) => [...new Set(list.map((name) => name.toLowerCase()))]);
const tokenTypes = ['default', 'service', 'batch', 'default-service', 'default-batch'] as const;

/** The fields of a role as they are stored (docs/conventions.md#32-roles). */
const RoleFields = z.object({
  bound_service_principal_ids: bounds,
  bound_group_ids: bounds,
  bound_subscription_ids: bounds,
  bound_resource_groups: bounds,
  bound_locations: bounds,
  bound_scale_sets: bounds,
  token_ttl: seconds,
  token_max_ttl: seconds,
  token_explicit_max_ttl: seconds,
  token_period: seconds,
  token_policies: policies,
  token_bound_cidrs: cidrList,
  token_no_default_policy: flag,
  token_num_uses: count,
  token_type: z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` }),
  /** Maximum age of a directory token in seconds; 0 means until it expires. */
  max_token_age: seconds,
});
export type RoleSettings = z.infer<typeof RoleFields>;

/** The body of `auth/<mount>/role/<name>`: every field is optional, and older names of the token fields are accepted. */
export const RoleBody = RoleFields.partial().extend({
  policies: policies.optional(),
  ttl: seconds.optional(),
  max_ttl: seconds.optional(),
  period: seconds.optional(),
  num_uses: count.optional(),
});
export type RoleBody = z.infer<typeof RoleBody>;

const empty: RoleSettings = {
  bound_service_principal_ids: [],
  bound_group_ids: [],
  bound_subscription_ids: [],
  bound_resource_groups: [],
  bound_locations: [],
  bound_scale_sets: [],
  token_ttl: 0,
  token_max_ttl: 0,
  token_explicit_max_ttl: 0,
  token_period: 0,
  token_policies: [],
  token_bound_cidrs: [],
  token_no_default_policy: false,
  token_num_uses: 0,
  token_type: 'default',
  max_token_age: 0,
};

/** A request merged into what is stored. Throws `invalid` if the result is not a valid role. */
export function mergedRole(stored: RoleSettings | undefined, body: RoleBody): RoleSettings {
  const { policies, ttl, max_ttl, period, num_uses, ...fields } = body;
  const older = {
    token_policies: policies,
    token_ttl: ttl,
    token_max_ttl: max_ttl,
    token_period: period,
    token_num_uses: num_uses,
  };
  const role = { ...empty, ...stored, ...given(older), ...given(fields) };
  if (!hasBound(role)) throw invalid('must have at least one bound constraint when creating/updating a role');
  refuseImpossibleToken(role);
  return role;
}

/** Whether a role's tokens are batch tokens. */
export const isBatch = (role: Pick<RoleSettings, 'token_type'>): boolean => role.token_type.endsWith('batch');

const hasBound = (role: RoleSettings): boolean =>
  [
    role.bound_service_principal_ids,
    role.bound_group_ids,
    role.bound_subscription_ids,
    role.bound_resource_groups,
    role.bound_locations,
    role.bound_scale_sets,
  ].some((bound) => bound.length > 0);

function refuseImpossibleToken(role: RoleSettings): void {
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

const given = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
