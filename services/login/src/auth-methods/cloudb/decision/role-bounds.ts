import type { RoleSettings } from '../roles/role-settings.ts';

/** The fields of a role that restrict who may log in. */
export type RoleBounds = Pick<RoleSettings, `bound_${string}` & keyof RoleSettings>;

const anything = '*';

/** The values of a bound. `*` would admit the whole tenant, so a bound that contains it counts as absent. */
export const specific = (bound: readonly string[]): readonly string[] =>
  bound.includes(anything) ? [] : bound;

const isSpecific = (bound: readonly string[]): boolean => specific(bound).length > 0;

/** Whether a role names a service principal or group. */
export const bindsPrincipals = (role: RoleBounds): boolean =>
  isSpecific(role.bound_service_principal_ids) || isSpecific(role.bound_group_ids);

/** Whether a role binds where its principals run, which only the provider's API can prove (docs/conventions.md#32-roles). */
export const bindsPlace = (role: RoleBounds): boolean => bindsNames(role) || isSpecific(role.bound_locations);

/** Whether a role admits nobody: locations alone would admit the whole tenant. */
export const admitsNobody = (role: RoleBounds): boolean => !bindsPrincipals(role) && !bindsNames(role);

const bindsNames = (role: RoleBounds): boolean =>
  isSpecific(role.bound_subscription_ids) ||
  isSpecific(role.bound_resource_groups) ||
  isSpecific(role.bound_scale_sets);
