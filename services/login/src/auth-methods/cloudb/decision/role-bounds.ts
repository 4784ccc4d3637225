import { type BoundField, placeFields, principalFields, sufficientFields } from '../roles/bound-fields.ts';
import type { RoleSettings } from '../roles/role-settings.ts';

/** The fields of a role that restrict who may log in. */
export type RoleBounds = Pick<RoleSettings, BoundField>;

const anything = '*';

/** The values of a bound. `*` would admit the whole tenant, so a bound that contains it counts as absent. */
export const specific = (bound: readonly string[]): readonly string[] =>
  bound.includes(anything) ? [] : bound;

const isSpecific = (bound: readonly string[]): boolean => specific(bound).length > 0;

/** Whether a role names principals, such as a service principal or group. */
export const bindsPrincipals = (role: RoleBounds): boolean =>
  principalFields.some((field) => isSpecific(role[field]));

/** Whether a role binds where its principals run, which only the provider's API can prove (docs/conventions/cloudb.md#roles). */
export const bindsPlace = (role: RoleBounds): boolean => placeFields.some((field) => isSpecific(role[field]));

/** Whether a role admits no login: locations alone would admit the whole tenant. */
export const admitsNoLogin = (role: RoleBounds): boolean =>
  !sufficientFields.some((field) => isSpecific(role[field]));
