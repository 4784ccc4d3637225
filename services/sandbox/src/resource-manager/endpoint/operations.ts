import { findProvider, isSame, providersOf } from '../resources/api-versions.ts';
import { isOfType, partsOf, type Resource } from '../resources/resource.ts';
import { isWithin, parseResourceId } from '../resources/resource-id.ts';
import { badRequest, notFound } from './arm-error.ts';
import type { Caller } from './caller.ts';
import {
  groupsOf,
  invalidNamespace,
  type ProviderType,
  type ResourceManagerState,
  requireGroup,
  requireManagementVersion,
  requirePermission,
  requireSubscription,
  requireVersion,
  subscriptionsOf,
} from './request-checks.ts';
import {
  groupContent,
  providerContent,
  resourceContent,
  resourceItem,
  subscriptionContent,
} from './wire-format.ts';

/** The context of the request that an operation handles. */
interface OperationContext extends ResourceManagerState {
  caller: Caller;
  apiVersion: string;
}

/** The parts of a path, in the spelling of the request. */
export interface Location {
  subscriptionId: string;
  resourceGroup?: string;
  namespace: string;
  /** The segments after the namespace, alternately types and names. */
  rest: readonly string[];
}

/** The content of a response: an object, or the items of a list, which is returned in pages. */
export type Content = { content: object } | { items: readonly object[] };
export type Operation = (context: OperationContext, location: Location) => Content;

export const getResource: Operation = (context, location) => {
  const { inventory, apiVersion, directory } = context;
  const { subscriptionId, resourceGroup = '' } = location;
  const id = `${scopeOf(location)}/providers/${location.namespace}/${location.rest.join('/')}`;
  const type = typeOf(location);
  requireSubscription(context, subscriptionId);
  if (location.rest.some((segment) => segment.includes('/')))
    throw badRequest('InvalidRequestUri', 'A name in the path contains a slash.');
  requirePermission(context, context.caller, { action: readOf(type), scope: id });
  const group = requireGroup(inventory, subscriptionId, resourceGroup);
  requireVersion(inventory, type, apiVersion);
  const resource = inventory.find(id.replace(/\/resourcegroups\/[^/]+/i, `/resourceGroups/${group}`));
  if (!resource) throw resourceNotFound(id);
  return { content: resourceContent(resource, inventory, directory.tenantId) };
};

function resourceNotFound(id: string): Error {
  const { namespace, type, names, resourceGroup } = parseResourceId(id)!;
  const path = type.split('/').map((one, index) => `${one}/${names[index]}`);
  return notFound(
    'ResourceNotFound',
    `The Resource '${namespace}/${path.join('/')}' under resource group '${resourceGroup}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
  );
}

/** The resources of one type, in a subscription, a resource group or a parent. */
export const listResourcesOfType: Operation = (context, location) => {
  const { inventory, apiVersion, directory } = context;
  const type = typeOf(location);
  const scope = scopeOf(location);
  requireSubscription(context, location.subscriptionId);
  requirePermission(context, context.caller, { action: readOf(type), scope });
  if (location.resourceGroup !== undefined)
    requireGroup(inventory, location.subscriptionId, location.resourceGroup);
  requireVersion(inventory, type, apiVersion);
  const parent = `${scope}/providers/${location.namespace}/${location.rest.slice(0, -1).join('/')}`;
  const isListed = (resource: Resource) =>
    isOfType(partsOf(resource), `${type.namespace}/${type.type}`) &&
    isWithin(resource.id, location.rest.length > 1 ? parent : scope);
  return {
    items: inventory
      .all()
      .filter(isListed)
      .map((one) => resourceContent(one, inventory, directory.tenantId)),
  };
};

export const listResources: Operation = (context, location) => {
  const { inventory, apiVersion, directory } = context;
  const scope = scopeOf(location);
  requireManagementVersion(apiVersion);
  requireSubscription(context, location.subscriptionId);
  requirePermission(context, context.caller, {
    action: `Microsoft.Resources/subscriptions/${location.resourceGroup === undefined ? '' : 'resourceGroups/'}resources/read`,
    scope,
  });
  if (location.resourceGroup !== undefined)
    requireGroup(inventory, location.subscriptionId, location.resourceGroup);
  const listed = inventory.all().filter(({ id }) => isWithin(id, scope));
  return { items: listed.map((one) => resourceItem(one, inventory, directory.tenantId)) };
};

/** The subscriptions in which the caller has a role. */
export const listSubscriptions: Operation = ({ directory, apiVersion, caller, ...state }) => {
  requireManagementVersion(apiVersion);
  const own = state.assignments.list().filter(({ principalId }) => isSame(principalId, caller.oid));
  const readable = subscriptionsOf(state).filter((id) =>
    own.some(({ scope }) => isWithin(scope, `/subscriptions/${id}`)),
  );
  return { items: readable.map((id) => subscriptionContent(id, directory.tenantId)) };
};

export const getSubscription: Operation = (context, { subscriptionId }) => {
  requireManagementVersion(context.apiVersion);
  requireSubscription(context, subscriptionId);
  const scope = `/subscriptions/${subscriptionId}`;
  requirePermission(context, context.caller, { action: 'Microsoft.Resources/subscriptions/read', scope });
  return { content: subscriptionContent(subscriptionId.toLowerCase(), context.directory.tenantId) };
};

export const listGroups: Operation = (context, { subscriptionId }) => {
  requireManagementVersion(context.apiVersion);
  requireSubscription(context, subscriptionId);
  const scope = `/subscriptions/${subscriptionId}`;
  const action = 'Microsoft.Resources/subscriptions/resourceGroups/read';
  requirePermission(context, context.caller, { action, scope });
  return {
    items: groupsOf(context.inventory, subscriptionId).map((name) => groupContent(subscriptionId, name)),
  };
};

export const getGroup: Operation = (context, location) => {
  const { subscriptionId, resourceGroup = '' } = location;
  requireManagementVersion(context.apiVersion);
  requireSubscription(context, subscriptionId);
  const action = 'Microsoft.Resources/subscriptions/resourceGroups/read';
  requirePermission(context, context.caller, { action, scope: scopeOf(location) });
  const name = requireGroup(context.inventory, subscriptionId, resourceGroup);
  return { content: groupContent(subscriptionId, name) };
};

/** Requires a permission for the whole subscription; a role in a resource group does not suffice. */
function requireProviders(context: OperationContext, subscriptionId: string): void {
  requireManagementVersion(context.apiVersion);
  requireSubscription(context, subscriptionId);
  const scope = `/subscriptions/${subscriptionId}`;
  const action = 'Microsoft.Resources/subscriptions/providers/read';
  requirePermission(context, context.caller, { action, scope });
}

export const getProvider: Operation = (context, { subscriptionId, namespace }) => {
  requireProviders(context, subscriptionId);
  const provider = findProvider(context.inventory, namespace);
  if (!provider) throw invalidNamespace(namespace);
  return { content: providerContent(provider.namespace, provider.types, subscriptionId) };
};

export const listProviders: Operation = (context, { subscriptionId }) => {
  requireProviders(context, subscriptionId);
  const providers = [...providersOf(context.inventory)];
  return { items: providers.map(([namespace, types]) => providerContent(namespace, types, subscriptionId)) };
};

/** Returns a provider without a subscription. Every caller may read it, whichever subscriptions it can access. */
export const getTenantProvider: Operation = ({ inventory, apiVersion }, { namespace }) => {
  requireManagementVersion(apiVersion);
  const provider = findProvider(inventory, namespace);
  if (!provider) throw invalidNamespace(namespace);
  return { content: providerContent(provider.namespace, provider.types, undefined) };
};

function scopeOf({ subscriptionId, resourceGroup }: Location): string {
  const group = resourceGroup === undefined ? '' : `/resourceGroups/${resourceGroup}`;
  return `/subscriptions/${subscriptionId}${group}`;
}

const typeOf = ({ namespace, rest }: Location): ProviderType => ({
  namespace,
  type: rest.filter((_, index) => index % 2 === 0).join('/'),
});

const readOf = ({ namespace, type }: ProviderType): string => `${namespace}/${type}/read`;
