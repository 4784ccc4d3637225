import type { Request } from 'express';
import type { Directory } from '../../directory/directory.ts';
import { findProvider, isSame, managementVersions } from '../resources/api-versions.ts';
import { partsOf } from '../resources/resource.ts';
import { isWithin, parseResourceId } from '../resources/resource-id.ts';
import type { ResourceInventory } from '../resources/resource-inventory.ts';
import type { RoleAssignments } from '../role-assignments.ts';
import { ArmError, badRequest, notFound } from './arm-error.ts';
import type { Caller } from './caller.ts';

/** The state on which the operations of the API work. */
export interface ResourceManagerState {
  directory: Directory;
  inventory: ResourceInventory;
  assignments: RoleAssignments;
}

/** The type of a resource, with its provider's namespace. */
export interface ProviderType {
  namespace: string;
  type: string;
}

/** The `api-version` of a request. Throws ArmError if it is missing or has another form. */
export function apiVersionOf({ query }: Request): string {
  const version = query['api-version'];
  if (typeof version !== 'string' || version === '')
    throw badRequest(
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    );
  if (!/^\d{4}-\d{2}-\d{2}(-[a-z]+)?$/i.test(version)) throw invalidVersion(version, managementVersions);
  return version;
}

/** Throws ArmError if subscriptions, resource groups and providers do not have this version. */
export function requireManagementVersion(version: string): void {
  if (!managementVersions.includes(version)) throw invalidVersion(version, managementVersions);
}

const invalidVersion = (version: string, supported: readonly string[]): ArmError =>
  badRequest(
    'InvalidApiVersionParameter',
    `The api-version '${version.slice(0, 64)}' is invalid. The supported versions are '${supported.join(',')}'.`,
  );

/** Throws ArmError if the provider, its type or this version of the type does not exist. */
export function requireVersion(
  inventory: ResourceInventory,
  { namespace, type }: ProviderType,
  version: string,
): void {
  const provider = findProvider(inventory, namespace);
  if (!provider) throw invalidNamespace(namespace);
  const found = provider.types.find(({ resourceType }) => isSame(resourceType, type));
  if (!found)
    throw notFound(
      'InvalidResourceType',
      `The resource type '${type}' could not be found in the namespace '${namespace}' for api version '${version}'.`,
    );
  if (!found.apiVersions.includes(version))
    throw badRequest(
      'NoRegisteredProviderFound',
      `No registered resource provider found for location 'westus' and API version '${version}' for type '${found.resourceType}'. The supported api-versions are '${found.apiVersions.join(', ')}'. The supported locations are 'westus'.`,
    );
}

export const invalidNamespace = (namespace: string): ArmError =>
  notFound('InvalidResourceNamespace', `The resource namespace '${namespace}' is invalid.`);

/** Throws ArmError if there is no such subscription: a subscription exists if it has resources or role assignments. */
export function requireSubscription(
  { inventory, assignments }: ResourceManagerState,
  subscriptionId: string,
): void {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(subscriptionId))
    throw badRequest(
      'InvalidSubscriptionId',
      `The provided subscription identifier '${subscriptionId}' is malformed or invalid.`,
    );
  if (!subscriptionsOf({ inventory, assignments }).includes(subscriptionId.toLowerCase()))
    throw notFound('SubscriptionNotFound', `The subscription '${subscriptionId}' could not be found.`);
}

/** The IDs of the subscriptions, in lower case. */
export function subscriptionsOf({
  inventory,
  assignments,
}: Pick<ResourceManagerState, 'inventory' | 'assignments'>): string[] {
  const ids = [
    ...inventory.all().map((resource) => partsOf(resource).subscriptionId),
    ...assignments.list().map(({ scope }) => scope.split('/')[2] ?? ''),
  ];
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

/** The resource groups of a subscription that have resources, in the spelling of the first one. */
export function groupsOf(inventory: ResourceInventory, subscriptionId: string): string[] {
  const groups = new Map<string, string>();
  for (const { id } of inventory.all()) {
    const { resourceGroup = '' } = isWithin(id, `/subscriptions/${subscriptionId}`)
      ? (parseResourceId(id) ?? {})
      : {};
    if (resourceGroup !== '' && !groups.has(resourceGroup.toLowerCase()))
      groups.set(resourceGroup.toLowerCase(), resourceGroup);
  }
  return [...groups.values()];
}

/** The resource group, in its own spelling. Throws ArmError if there is none. */
export function requireGroup(
  inventory: ResourceInventory,
  subscriptionId: string,
  resourceGroup: string,
): string {
  const found = groupsOf(inventory, subscriptionId).find((name) => isSame(name, resourceGroup));
  if (found === undefined)
    throw notFound('ResourceGroupNotFound', `Resource group '${resourceGroup}' could not be found.`);
  return found;
}

/** Throws ArmError if no role assignment permits the action. */
export function requirePermission(
  { assignments }: ResourceManagerState,
  { oid, appid }: Caller,
  { action, scope }: { action: string; scope: string },
): void {
  if (assignments.permits(oid, action, scope)) return;
  throw new ArmError(
    403,
    'AuthorizationFailed',
    `The client '${appid}' with object id '${oid}' does not have authorization to perform action '${action}' over scope '${scope}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
  );
}
