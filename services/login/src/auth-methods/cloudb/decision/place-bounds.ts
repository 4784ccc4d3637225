import { type Check, check, reasonUnless } from '../../roles/check.ts';
import { folded, includesName } from '../resource-names/same-name.ts';
import { bounds, type PlaceField } from '../roles/bound-fields.ts';
import { type RoleBounds, specific } from './role-bounds.ts';

/** Where a principal runs, as its token and the provider's API proved it, in the spelling of the provider. */
export interface ProvenPlace {
  subscriptionId: string;
  resourceGroup: string;
  /** Name of the virtual machine; absent for an instance of a uniform scale set. */
  machine?: string | undefined;
  scaleSet?: string | undefined;
  /** The flexible scale set to which the machine belongs by its name, which alone proves nothing: it could not be read. */
  presumedScaleSet?: string | undefined;
  /** ID of the resource, if it was named by its ID. */
  resourceId?: string | undefined;
  /** Absent if the machine could not be read. */
  location?: string | undefined;
}

/** The part of a proven place that the request names. */
type Group = Pick<ProvenPlace, 'subscriptionId' | 'resourceGroup'>;

const claim = 'xms_az_rid, xms_mirid';

export const groupBoundChecks = (role: RoleBounds, { subscriptionId, resourceGroup }: Group): Check[] => [
  ...boundCheck('bound_subscription_ids', role.bound_subscription_ids, subscriptionId),
  ...boundCheck('bound_resource_groups', role.bound_resource_groups, resourceGroup),
];

/** @param scaleSet undefined if the principal does not run in one */
export const scaleSetBoundChecks = (role: RoleBounds, scaleSet: string | undefined): Check[] =>
  boundCheck('bound_scale_sets', role.bound_scale_sets, scaleSet);

/** Locations are compared as `westus`, also if they are written `West US`. */
export function locationBoundChecks(role: RoleBounds, location: string | undefined): Check[] {
  const bound = role.bound_locations.map(normalLocation);
  return boundCheck('bound_locations', bound, location === undefined ? undefined : normalLocation(location));
}

/** Checks everything that a role binds about a place. */
export const placeBoundChecks = (role: RoleBounds, place: ProvenPlace): Check[] => [
  ...groupBoundChecks(role, place),
  ...scaleSetBoundChecks(role, place.scaleSet ?? place.presumedScaleSet),
  ...locationBoundChecks(role, place.location),
];

const normalLocation = (location: string): string => folded(location.replace(/\s/g, ''));

function boundCheck(field: PlaceField, bound: readonly string[], value: string | undefined): Check[] {
  if (specific(bound).length === 0) return [];
  const isBound = value !== undefined && includesName(bound, value);
  const what = bounds[field].noun;
  const reason = `the ${what} in which the principal runs is not among the role's ${field}`;
  const looksAt = field === 'bound_locations' ? 'location, from the provider' : claim;
  return [check(`the ${what} is one of ${field}`, looksAt, reasonUnless(isBound, reason))];
}
