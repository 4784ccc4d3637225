import { invalid, setting, storedSettings } from '@secrets/domain';
import { seconds, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import { inUsualOrder, tokenSettings } from '../../../tokens/token-fields.ts';
import { systemTtlSeconds } from '../../../tokens/token-lifetime.ts';
import { boundFields, bounds } from './bound-fields.ts';

const tokenTypes = ['default', 'service', 'batch', 'default-service', 'default-batch'] as const;
const tokenType = z.enum(tokenTypes, { error: `must be one of ${tokenTypes.join(', ')}` });

/** The fields of a role (docs/conventions/cloudb.md#roles). */
export const roleFields = storedSettings({
  ...bounds,
  token_ttl: tokenSettings.token_ttl,
  token_max_ttl: tokenSettings.token_max_ttl,
  token_explicit_max_ttl: tokenSettings.token_explicit_max_ttl,
  token_period: tokenSettings.token_period,
  token_policies: tokenSettings.token_policies,
  token_bound_cidrs: tokenSettings.token_bound_cidrs,
  token_no_default_policy: tokenSettings.token_no_default_policy,
  token_num_uses: tokenSettings.token_num_uses,
  token_type: setting(tokenType, { default: 'default' }),
  max_token_age: setting(seconds, {
    default: 0,
    help: 'maximum age of the JWT in seconds; 0 means until it expires',
    ownExtension: true,
  }),
});
export type RoleSettings = ReturnType<typeof roleFields.read>;

/** The body of `auth/<mount>/role/<name>`: every field is optional, and older names of the token fields are accepted. */
export const RoleBody = withOtherNames(roleFields.body, inUsualOrder(roleFields.otherNames));
export type RoleBody = z.infer<typeof RoleBody>;

/** The settings in the row of a role. Throws what `readStored` throws. */
export const parseRole = (row: object, name: string): RoleSettings => roleFields.read(row, `role ${name}`);

/**
 * A request merged into the row of a role. Throws `invalid` if the result is not a valid role, and what `readStored`
 * throws for a field that the request does not replace.
 */
export function mergedRole(row: object | undefined, body: RoleBody): RoleSettings {
  const role = roleFields.merged(row, body, 'the role');
  if (!boundFields.some((field) => role[field].length > 0))
    throw invalid('must have at least one bound constraint when creating/updating a role');
  refuseImpossibleToken(role);
  return role;
}

/** Whether a role's tokens are batch tokens. */
export const isBatch = (role: Pick<RoleSettings, 'token_type'>): boolean => role.token_type.endsWith('batch');

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
