import { invalid } from '@secrets/domain';
import { flag, seconds, stringList } from '@secrets/http';
import { z } from 'zod';
import type { TokenRoleSettings } from '../../queries/token-roles.ts';
import { cidrList, count, normalisedPolicies, policyNames } from '../token-fields.ts';

const tokenTypes = ['default-service', 'default-batch', 'service', 'batch'] as const;
const policies = policyNames.transform(normalisedPolicies);

/** How the fields of a token role are parsed. */
const RoleFields = z.object({
  allowed_policies: policies,
  disallowed_policies: policies,
  allowed_policies_glob: policies,
  disallowed_policies_glob: policies,
  orphan: flag,
  renewable: flag,
  path_suffix: z
    .string()
    .max(256)
    .regex(/^(\w([\w.-]*\w)?)?$/, 'may contain only letters, digits, _, and within it - and .'),
  token_bound_cidrs: cidrList,
  token_explicit_max_ttl: seconds,
  token_no_default_policy: flag,
  token_num_uses: count,
  token_period: seconds,
  token_type: z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` }),
});

/** The body of `auth/token/roles/<name>`: every field is optional, and older names of the token fields are accepted. */
export const TokenRoleBody = RoleFields.partial().extend({
  allowed_entity_aliases: stringList
    .refine((list) => list.length === 0, { error: 'is not supported: only logins assign entities' })
    .meta({ type: 'array', maxItems: 0 })
    .optional(),
  bound_cidrs: cidrList.optional(),
  explicit_max_ttl: seconds.optional(),
  period: seconds.optional(),
});
export type TokenRoleBody = z.infer<typeof TokenRoleBody>;

const empty: TokenRoleSettings = {
  allowed_policies: [],
  disallowed_policies: [],
  allowed_policies_glob: [],
  disallowed_policies_glob: [],
  orphan: false,
  renewable: true,
  path_suffix: '',
  token_bound_cidrs: [],
  token_explicit_max_ttl: 0,
  token_no_default_policy: false,
  token_num_uses: 0,
  token_period: 0,
  token_type: 'default-service',
};

/** A request merged into what is stored. Throws `invalid` if no token could be created with the result. */
export function mergedTokenRole(
  stored: TokenRoleSettings | undefined,
  { allowed_entity_aliases: _, bound_cidrs, explicit_max_ttl, period, ...fields }: TokenRoleBody,
): TokenRoleSettings {
  const older = {
    token_bound_cidrs: bound_cidrs,
    token_explicit_max_ttl: explicit_max_ttl,
    token_period: period,
  };
  const role = { ...empty, ...stored, ...given(older), ...given(fields) };
  if (role.token_type !== 'batch') return role;
  if (role.token_period > 0) throw invalid('token_period: a batch token cannot be periodic');
  if (role.token_num_uses > 0) throw invalid('token_num_uses: a batch token cannot have limited uses');
  return role;
}

const given = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
