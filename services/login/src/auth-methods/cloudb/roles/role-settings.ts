import { invalid, setting, storedSettings } from '@secrets/domain';
import { seconds, withOtherNames } from '@secrets/http';
import type { z } from 'zod';
import { inUsualOrder } from '../../../tokens/token-fields.ts';
import { refuseImpossibleToken, roleTokenFields } from '../../roles/role-tokens.ts';
import { boundFields, bounds } from './bound-fields.ts';

/** The fields of a role (docs/conventions/cloudb.md#roles). */
export const roleFields = storedSettings({
  ...bounds,
  ...roleTokenFields,
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
