import { type Check, check } from '../../roles/check.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import type { RoleSettings } from '../roles/role-settings.ts';
import type { Lookup, LookupResults } from './lookup.ts';
import {
  missingPlace,
  type NamedPlace,
  namedPlace,
  namedPlaceChecks,
  namedScaleSet,
  type PlaceRequest,
} from './named-place.ts';
import { groupBoundChecks, type ProvenPlace, scaleSetBoundChecks } from './place-bounds.ts';
import { ageChecks, principalChecks } from './principal-checks.ts';
import { assessResource } from './resource-checks.ts';
import { bindsPlace } from './role-bounds.ts';
import { tokenPlace } from './token-place.ts';

/** The input of a decision: a role, the claims of a verified token, and the place that the caller names. */
export interface Attempt {
  role: RoleSettings;
  /** As the mount's configuration demands. */
  requirePrincipalBinding: boolean;
  claims: DirectoryClaims;
  request: PlaceRequest;
  now: Date;
}

/** The checks that could be made so far, and the next step. The rest is valid only if all of them passed. */
export interface Assessment {
  checks: Check[];
  /** To be looked up before the next assessment; absent if nothing is missing. */
  next?: Lookup;
  /** Where the principal runs, once that is proven. */
  place?: ProvenPlace;
}

/**
 * Decides about a login (docs/conventions/cloudb.md#decision). It is complete if all checks passed and nothing is to be
 * looked up. What fails without the provider's API comes before what needs it.
 */
export function assess(attempt: Attempt, found: LookupResults): Assessment {
  const { role, claims, request, now } = attempt;
  const checks = [...principalChecks(role, claims, attempt), ...ageChecks(role, claims.issuedAt, now)];
  if (!bindsPlace(role)) return { checks };
  const missing = missingPlace(request);
  checks.push(requestCheck(missing));
  if (missing !== undefined) return { checks };
  const named = namedPlace(request);
  const place = tokenPlace(claims);
  checks.push(...namedPlaceChecks(named, place), ...namedBoundChecks(role, named));
  if (found.resource === undefined) return { checks, next: lookupOf(named) };
  const rest = assessResource({ role, claims, named, place }, { ...found, resource: found.resource });
  return { ...rest, checks: [...checks, ...rest.checks] };
}

const requestCheck = (missing: string | undefined): Check => ({
  ...check('the request names where its principal runs', 'request', missing),
  isInvalid: true,
});

/** Bounds on names that the request contains. That it may use these names, other checks prove. */
function namedBoundChecks(role: RoleSettings, named: NamedPlace): Check[] {
  const set = namedScaleSet(named);
  return [
    ...groupBoundChecks(role, named.name),
    ...(set === undefined ? [] : scaleSetBoundChecks(role, set)),
  ];
}

const lookupOf = (named: NamedPlace): Lookup =>
  named.kind === 'resource' ? { find: 'resource', id: named.text } : { find: named.kind, name: named.name };
