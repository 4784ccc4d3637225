import { invalid, setting, storedSettings } from '@secrets/domain';
import { flag, stringList, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import { inUsualOrder, normalisedPolicies, policyNames, tokenSettings } from '../token-fields.ts';

const tokenTypes = ['default-service', 'default-batch', 'service', 'batch'] as const;
const policies = policyNames.transform(normalisedPolicies);

const policyList = setting(policies, { default: [] });

/** The fields of a token role (docs/conventions/access.md#token-roles). Numbers are 0 for none. */
export const tokenRoleFields = storedSettings({
  allowed_policies: policyList,
  disallowed_policies: policyList,
  allowed_policies_glob: policyList,
  disallowed_policies_glob: policyList,
  orphan: setting(flag, { default: false }),
  renewable: setting(flag, { default: true }),
  /** Appended to the creation path of the tokens; may be empty. */
  path_suffix: setting(
    z
      .string()
      .max(256)
      .regex(/^(\w([\w.-]*\w)?)?$/, 'may contain only letters, digits, _, and within it - and .'),
    { default: '' },
  ),
  token_bound_cidrs: tokenSettings.token_bound_cidrs,
  token_explicit_max_ttl: tokenSettings.token_explicit_max_ttl,
  token_no_default_policy: tokenSettings.token_no_default_policy,
  token_num_uses: tokenSettings.token_num_uses,
  token_period: tokenSettings.token_period,
  token_type: setting(z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` }), {
    default: 'default-service',
  }),
});
export type TokenRoleSettings = ReturnType<typeof tokenRoleFields.read>;

/** A role of a name. */
export interface TokenRole extends TokenRoleSettings {
  name: string;
  /**
   * Whether a role that only disallows policies lets its tokens have all others. Only an author with `sudo` can grant
   * that; roles of earlier versions do not.
   */
  isOpen: boolean;
}

/** The body of `auth/token/roles/<name>`: every field is optional, and older names of the token fields are accepted. */
export const TokenRoleBody = withOtherNames(
  tokenRoleFields.body.extend({
    allowed_entity_aliases: stringList
      .refine((list) => list.length === 0, { error: 'is not supported: only logins assign entities' })
      .meta({ type: 'array', maxItems: 0 })
      .optional(),
  }),
  inUsualOrder(tokenRoleFields.otherNames),
);
export type TokenRoleBody = z.infer<typeof TokenRoleBody>;

/** The settings in the row of a role. Throws what `readStored` throws. */
export const parseTokenRole = (row: object, name: string): TokenRoleSettings =>
  tokenRoleFields.read(row, `token role ${name}`);

/**
 * A request merged into the row of a role. Throws `invalid` if no token could be created with the result, and what
 * `readStored` throws for a field that the request does not replace.
 */
export function mergedTokenRole(
  row: object | undefined,
  { allowed_entity_aliases: _, ...fields }: TokenRoleBody,
): TokenRoleSettings {
  const role = tokenRoleFields.merged(row, fields, 'the token role');
  if (role.token_type !== 'batch') return role;
  if (role.token_period > 0) throw invalid('token_period: a batch token cannot be periodic');
  if (role.token_num_uses > 0) throw invalid('token_num_uses: a batch token cannot have limited uses');
  return role;
}
