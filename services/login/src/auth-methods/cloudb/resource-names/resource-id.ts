import { isSameName } from './same-name.ts';

/** The ID of a resource in a resource group, in its parts. */
export interface ResourceId {
  subscriptionId: string;
  resourceGroup: string;
  /** The provider's namespace and the types, such as `Microsoft.Compute/virtualMachines`. */
  type: string;
  /** One name for each type. */
  names: readonly string[];
}

const machineType = 'Microsoft.Compute/virtualMachines';
const scaleSetType = 'Microsoft.Compute/virtualMachineScaleSets';
const identityType = 'Microsoft.ManagedIdentity/userAssignedIdentities';
const maxLength = 2_048;
const maxNames = 8;
/** Nothing that could end a segment, or hide or change it, in a URL. */
const segment = /^(?!\.{1,2}$)[^\p{Cc}\s/\\?#%]+$/u;

/**
 * Parses a resource ID of the form `/subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>…`; undefined
 * if it has another form (https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
 */
export function parseResourceId(text: string): ResourceId | undefined {
  if (text.length > maxLength) return undefined;
  const [empty, subscriptions, subscriptionId, groups, resourceGroup, providers, namespace, ...path] =
    text.split('/');
  if (empty !== '' || path.length === 0 || path.length % 2 !== 0 || path.length > 2 * maxNames)
    return undefined;
  const literals: [string | undefined, string][] = [
    [subscriptions, 'subscriptions'],
    [groups, 'resourceGroups'],
    [providers, 'providers'],
  ];
  if (!literals.every(([found, expected]) => found !== undefined && isSameName(found, expected)))
    return undefined;
  if (![subscriptionId, resourceGroup, namespace, ...path].every((part) => segment.test(part ?? '')))
    return undefined;
  return {
    subscriptionId: subscriptionId!,
    resourceGroup: resourceGroup!,
    type: [namespace, ...path.filter((_, index) => index % 2 === 0)].join('/'),
    names: path.filter((_, index) => index % 2 === 1),
  };
}

/** Whether two IDs are of the same resource: all of their segments are the same, without regard to case. */
export const isSameResource = (one: ResourceId, other: ResourceId): boolean =>
  isInSameGroup(one, other) &&
  isSameName(one.type, other.type) &&
  one.names.length === other.names.length &&
  one.names.every((name, index) => isSameName(name, other.names[index]!));

/** Whether two resources are in the same resource group of the same subscription. */
export const isInSameGroup = (
  one: Pick<ResourceId, 'subscriptionId' | 'resourceGroup'>,
  other: Pick<ResourceId, 'subscriptionId' | 'resourceGroup'>,
): boolean =>
  isSameName(one.subscriptionId, other.subscriptionId) && isSameName(one.resourceGroup, other.resourceGroup);

/** The name of a virtual machine that is not an instance of a uniform scale set; undefined for anything else. */
export const machineName = ({ type, names }: ResourceId): string | undefined =>
  isSameName(type, machineType) ? names[0] : undefined;

/** The name of a scale set, or of the one of which the resource is an instance; undefined for anything else. */
export const scaleSetName = ({ type, names }: ResourceId): string | undefined =>
  isSameName(type, scaleSetType) || isSameName(type, `${scaleSetType}/virtualMachines`)
    ? names[0]
    : undefined;

/** The name of a scale set; undefined for anything else, its instances included. */
export const wholeScaleSetName = (id: ResourceId): string | undefined =>
  isSameName(id.type, scaleSetType) ? id.names[0] : undefined;

/** Whether the resource is a user-assigned identity. */
export const isIdentity = ({ type }: ResourceId): boolean => isSameName(type, identityType);

/**
 * The name of the scale set of which a machine would be an instance, if it is flexible: they are named `<set>_<suffix>`. The
 * suffix contains no underscore, so that the instances of `web_1` are not taken for those of `web`.
 */
export const flexibleSetName = (machine: string): string | undefined =>
  /^(.+)_[A-Za-z0-9]+$/.exec(machine)?.[1];
