import { type Check, check, reasonUnless } from '../../roles/check.ts';
import type { ResourceName } from '../provider/provider.ts';
import {
  flexibleSetName,
  isInSameGroup,
  isSameResource,
  machineName,
  parseResourceId,
  type ResourceId,
  scaleSetName,
  wholeScaleSetName,
} from '../resource-names/resource-id.ts';
import { isSameName } from '../resource-names/same-name.ts';
import type { TokenPlace } from './token-place.ts';

/** The fields of a login that name where the caller runs, in the provider's grammar. */
export interface PlaceRequest {
  subscription_id?: string | undefined;
  resource_group_name?: string | undefined;
  vmss_name?: string | undefined;
  vm_name?: string | undefined;
  resource_id?: string | undefined;
}

/** Where the caller says it runs. */
export type NamedPlace =
  | { kind: 'scaleSet' | 'machine'; name: ResourceName }
  | { kind: 'resource'; name: ResourceName; id: ResourceId; text: string };

/** The request fields that a role with bounds on places needs; the sentence about the first one that is missing. */
export function missingPlace(request: PlaceRequest): string | undefined {
  if (request.subscription_id === undefined) return 'subscription_id is required for this role';
  if (request.resource_group_name === undefined) return 'resource_group_name is required for this role';
  if ((request.vmss_name ?? request.vm_name ?? request.resource_id) === undefined)
    return 'vm_name, vmss_name or resource_id is required for this role';
  return undefined;
}

/**
 * Returns the resource that a complete request names. A scale set has precedence over a machine, and a machine over
 * another resource.
 */
export function namedPlace(request: PlaceRequest): NamedPlace {
  const { vmss_name, vm_name, resource_id: text = '' } = request;
  const group = { subscriptionId: request.subscription_id!, resourceGroup: request.resource_group_name! };
  if (vmss_name !== undefined) return { kind: 'scaleSet', name: { ...group, name: vmss_name } };
  if (vm_name !== undefined) return { kind: 'machine', name: { ...group, name: vm_name } };
  const id = parseResourceId(text)!; // as the grammar of the field ensures
  return { kind: 'resource', name: { ...group, name: id.names.at(-1)! }, id, text };
}

/** The name of the scale set that a request names, also if by its ID; undefined if it names something else. */
export function namedScaleSet(named: NamedPlace): string | undefined {
  if (named.kind === 'resource') return wholeScaleSetName(named.id);
  return named.kind === 'scaleSet' ? named.name.name : undefined;
}

/** Checks that a request names one place, and that the token proves this place, as far as it names any. */
export function namedPlaceChecks(named: NamedPlace, place: TokenPlace): Check[] {
  const checks = [];
  if (named.kind === 'resource')
    checks.push(
      check(
        'resource_id is in the named subscription and resource group',
        'resource_id',
        reasonUnless(
          isInSameGroup(named.id, named.name),
          'resource_id: is not in the given subscription_id and resource_group_name',
        ),
      ),
    );
  checks.push(proofCheck(place));
  if (place.kind === 'resource') checks.push(...samePlaceChecks(named, place));
  return checks;
}

const proofs: Record<TokenPlace['kind'], string | undefined> = {
  resource: undefined,
  none: undefined, // the provider's API has to prove it
  identity:
    'the token of a user-assigned identity does not prove where it runs unless it contains xms_az_rid',
  malformed: 'a claim of the token is not the ID of a resource in a resource group',
};

const proofCheck = (place: TokenPlace): Check =>
  check(
    'the token proves where its principal runs, or leaves the proof to the provider',
    'claim' in place ? place.claim : 'xms_az_rid, xms_mirid',
    proofs[place.kind],
  );

function samePlaceChecks(named: NamedPlace, { id, claim }: { id: ResourceId; claim: string }): Check[] {
  const { kind, name } = named;
  const isSubscription = isSameName(name.subscriptionId, id.subscriptionId);
  const isGroup = isSameName(name.resourceGroup, id.resourceGroup);
  const field = { scaleSet: 'vmss_name', machine: 'vm_name', resource: 'resource_id' }[kind];
  const mismatch = (what: string) => `${what} is not what the token proves`;
  return [
    check(
      'the token is of the named subscription',
      claim,
      reasonUnless(isSubscription, mismatch('subscription_id')),
    ),
    check(
      'the token is of the named resource group',
      claim,
      reasonUnless(isGroup, mismatch('resource_group_name')),
    ),
    check(`the token is of what ${field} names`, claim, reasonUnless(isNamed(named, id), mismatch(field))),
  ];
}

/** Whether a token's resource is what the request names. Whether a scale set is uniform or flexible is not yet known. */
function isNamed(named: NamedPlace, id: ResourceId): boolean {
  if (named.kind === 'resource') return isSameResource(named.id, id);
  const { name } = named.name;
  const machine = machineName(id);
  const found = named.kind === 'machine' ? machine : (scaleSetName(id) ?? flexibleSetName(machine ?? ''));
  return found !== undefined && isSameName(found, name);
}
