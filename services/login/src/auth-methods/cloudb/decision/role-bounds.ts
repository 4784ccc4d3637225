import { type BoundField, boundFields, type RoleSettings } from '../roles/role-settings.ts';

/** The fields of a role that restrict who may log in. */
export type RoleBounds = Pick<RoleSettings, BoundField>;

/** Bounds on where a principal runs, and what they bind. The others bind principals. */
export const places = {
  bound_subscription_ids: 'subscription',
  bound_resource_groups: 'resource group',
  bound_scale_sets: 'scale set',
  bound_locations: 'location',
} as const satisfies Record<Exclude<BoundField, (typeof principals)[number]>, string>;

export const placeFields = Object.keys(places) as (keyof typeof places)[];
const principals = ['bound_service_principal_ids', 'bound_group_ids'] as const satisfies BoundField[];

const anything = '*';

/** The values of a bound. `*` would admit the whole tenant, so a bound that contains it counts as absent. */
export const specific = (bound: readonly string[]): readonly string[] =>
  bound.includes(anything) ? [] : bound;

const isSpecific = (bound: readonly string[]): boolean => specific(bound).length > 0;

/** Whether a role names a service principal or group. */
export const bindsPrincipals = (role: RoleBounds): boolean =>
  principals.some((field) => isSpecific(role[field]));

/** Whether a role binds where its principals run, which only the provider's API can prove (docs/conventions/cloudb.md#roles). */
export const bindsPlace = (role: RoleBounds): boolean => placeFields.some((field) => isSpecific(role[field]));

/** Whether a role admits no login: locations alone would admit the whole tenant. */
export const admitsNoLogin = (role: RoleBounds): boolean =>
  !boundFields.some((field) => field !== 'bound_locations' && isSpecific(role[field]));
