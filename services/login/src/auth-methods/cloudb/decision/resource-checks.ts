import { type Check, check, reasonUnless } from '../../roles/check.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import type { AssignedIdentity, ProviderResource } from '../provider/provider.ts';
import {
  isInSameGroup,
  isSameResource,
  machineName,
  parseResourceId,
  type ResourceId,
  scaleSetName,
  wholeScaleSetName,
} from '../resource-names/resource-id.ts';
import { isSameName } from '../resource-names/same-name.ts';
import type { Lookup, LookupResults } from './lookup.ts';
import { type NamedPlace, namedScaleSet } from './named-place.ts';
import { locationBoundChecks, type ProvenPlace, scaleSetBoundChecks } from './place-bounds.ts';
import { type RoleBounds, specific } from './role-bounds.ts';
import type { TokenPlace } from './token-place.ts';

/** The role, claims and place that the provider's answer is checked against. */
export interface Expectation {
  role: RoleBounds;
  claims: Pick<DirectoryClaims, 'oid' | 'clientId'>;
  named: NamedPlace;
  place: TokenPlace;
}

type Answer = LookupResults & { resource: ProviderResource | null };

/** An identity fetch per login stays small, even if a set has many identities and the token names none. */
const maxIdentities = 20;
const claimsOfPrincipal = 'oid, appid, azp';

/** Checks what the provider's API says about the named resource (docs/conventions/cloudb.md#decision). */
export function assessResource(
  expected: Expectation,
  found: Answer,
): { checks: Check[]; next?: Lookup; place?: ProvenPlace } {
  const { role, named } = expected;
  const { resource } = found;
  const id = resource === null ? undefined : parseResourceId(resource.id);
  const checks = [existenceCheck(named, id)];
  if (resource === null || id === undefined) return { checks };
  if (named.kind === 'scaleSet') checks.push(orchestrationCheck(expected, resource));
  const next = nextLookup(expected, found, resource);
  if (next !== undefined) return { checks, next };
  checks.push(principalCheck(expected, resource, found.identities ?? resource.userAssigned));
  if (found.instance !== undefined) checks.push(membershipCheck(id, found.instance));
  const place = provenPlace(expected, found, resource, id);
  if (namedScaleSet(named) === undefined) checks.push(...scaleSetBoundChecks(role, place.scaleSet));
  checks.push(...locationBoundChecks(role, place.location));
  return { checks, place };
}

const kinds = { scaleSet: 'scale set', machine: 'virtual machine', resource: 'resource' } as const;

function existenceCheck(named: NamedPlace, id: ResourceId | undefined): Check {
  const what = kinds[named.kind];
  return check(
    `the provider has the named ${what}`,
    'request',
    reasonUnless(id !== undefined && isAnswerTo(named, id), `the provider has no ${what} of this name`),
  );
}

function isAnswerTo(named: NamedPlace, id: ResourceId): boolean {
  if (named.kind === 'resource') return isSameResource(named.id, id);
  const name = named.kind === 'scaleSet' ? wholeScaleSetName(id) : machineName(id);
  return name !== undefined && isSameName(name, named.name.name) && isInSameGroup(id, named.name);
}

const isFlexible = ({ orchestration }: ProviderResource): boolean => orchestration === 'flexible';

/** A machine called `<set>_<suffix>` is an instance of a flexible set only. */
function orchestrationCheck({ place }: Expectation, resource: ProviderResource): Check {
  const isMachine = place.kind === 'resource' && scaleSetName(place.id) === undefined;
  return check(
    'the token is of an instance of the named scale set',
    'claim' in place ? place.claim : 'xms_az_rid, xms_mirid',
    reasonUnless(
      !isMachine || isFlexible(resource),
      'the token is of a machine, and the named scale set is uniform',
    ),
  );
}

/** Returns the next lookup for a flexible set: its identities, or whether the machine is an instance. */
function nextLookup(
  { role, claims, named, place }: Expectation,
  found: LookupResults,
  resource: ProviderResource,
): Lookup | undefined {
  if (named.kind !== 'scaleSet' || !isFlexible(resource) || place.kind !== 'resource') return undefined;
  const needsIdentities = !isSystemAssigned(claims, resource) && resource.userAssigned.length > 0;
  if (needsIdentities && found.identities === undefined)
    return { find: 'identities', ids: candidates(resource, place.identity) };
  const name = machineName(place.id);
  if (name === undefined || found.instance !== undefined) return undefined;
  const isOptional = specific(role.bound_locations).length === 0; // a name proves no location
  return { find: 'instance', name: { ...named.name, name }, isOptional };
}

/** The identity that the token names if the set has it, otherwise those of the set. */
function candidates({ userAssigned }: ProviderResource, identity: ResourceId | undefined): string[] {
  const ids = userAssigned.map(({ id }) => id);
  if (identity === undefined) return ids.slice(0, maxIdentities);
  return ids.filter((text) => {
    const id = parseResourceId(text);
    return id !== undefined && isSameResource(id, identity);
  });
}

type Claims = Expectation['claims'];

const isSystemAssigned = ({ oid }: Claims, { systemAssigned }: ProviderResource): boolean =>
  systemAssigned !== undefined && isSameName(systemAssigned, oid);

/**
 * A system-assigned principal belongs to one resource alone, so it proves where it runs. A user-assigned one may run
 * anywhere: it needs a token that names the resource.
 */
function principalCheck(
  { claims, place }: Expectation,
  resource: ProviderResource,
  identities: readonly AssignedIdentity[],
): Check {
  return check(
    'the principal is an identity of the named machine, scale set or resource',
    claimsOfPrincipal,
    isSystemAssigned(claims, resource) ? undefined : userAssignedReason(claims, place, identities),
  );
}

function userAssignedReason(
  { oid, clientId }: Claims,
  place: TokenPlace,
  identities: readonly AssignedIdentity[],
): string | undefined {
  const isAssigned =
    identities.some(({ principalId }) => isSameName(principalId, oid)) ||
    (clientId !== undefined && identities.some((identity) => isSameName(identity.clientId, clientId)));
  if (!isAssigned)
    return "the token's principal is not an identity of the named machine, scale set or resource";
  return reasonUnless(
    place.kind === 'resource',
    'the principal is a user-assigned identity, which does not prove where it runs: the token contains no xms_az_rid',
  );
}

function membershipCheck(set: ResourceId, instance: NonNullable<LookupResults['instance']> | null): Check {
  const isInstance = instance === 'unreadable' || (instance !== null && isSetOf(instance, set));
  return check(
    'the machine is an instance of the named scale set',
    'xms_az_rid, xms_mirid',
    reasonUnless(isInstance, 'the machine that the token names is not an instance of the named scale set'),
  );
}

function isSetOf({ scaleSetId }: ProviderResource, set: ResourceId): boolean {
  const id = scaleSetId === undefined ? undefined : parseResourceId(scaleSetId);
  return id !== undefined && isSameResource(id, set);
}

function provenPlace(
  { named, place }: Expectation,
  { instance }: LookupResults,
  resource: ProviderResource,
  id: ResourceId,
): ProvenPlace {
  const { subscriptionId, resourceGroup } = id;
  const machine = machineName(named.kind === 'scaleSet' && place.kind === 'resource' ? place.id : id);
  const group = { subscriptionId, resourceGroup, machine };
  if (instance === 'unreadable') return { ...group, presumedScaleSet: wholeScaleSetName(id) };
  return {
    ...group,
    scaleSet: wholeScaleSetName(id) ?? setInSameGroup(resource, id),
    resourceId: named.kind === 'resource' ? resource.id : undefined,
    location: (instance ?? resource).location,
  };
}

/** The flexible scale set of a machine. Both are in one resource group. */
function setInSameGroup({ scaleSetId }: ProviderResource, id: ResourceId): string | undefined {
  const set = scaleSetId === undefined ? undefined : parseResourceId(scaleSetId);
  return set !== undefined && isInSameGroup(set, id) ? wholeScaleSetName(set) : undefined;
}
