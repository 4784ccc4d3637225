import { guidFrom } from '../../directory/identity.ts';
import type { ResourceType } from '../resources/api-versions.ts';
import { isFlexibleSet, isUserAssignedIdentity, partsOf, type Resource } from '../resources/resource.ts';
import { idInClaims, idInResponses } from '../resources/resource-id.ts';
import type { ResourceInventory } from '../resources/resource-inventory.ts';

/** A resource, as a GET of its ID returns it. */
export function resourceContent(resource: Resource, inventory: ResourceInventory, tenantId: string): object {
  const { properties, principal } = resource;
  const own = isUserAssignedIdentity(partsOf(resource)) && principal;
  const fixed = own
    ? { tenantId, principalId: own.principalId, clientId: own.clientId }
    : { provisioningState: 'Succeeded', ...identifierOf(resource) };
  return { ...resourceItem(resource, inventory, tenantId), properties: { ...fixed, ...properties } };
}

/** A resource in the list of all resources, which has no properties. */
export function resourceItem(resource: Resource, inventory: ResourceInventory, tenantId: string): object {
  const { namespace, type, names } = partsOf(resource);
  return {
    id: idInResponses(resource.id),
    // The name of a child is the path of names below the provider.
    name: names.join('/'),
    type: `${namespace}/${type}`,
    location: resource.location,
    tags: resource.tags,
    identity: identityContent(resource, inventory, tenantId),
  };
}

/** https://learn.microsoft.com/rest/api/compute/virtual-machines/get#virtualmachineidentity */
function identityContent(
  resource: Resource,
  inventory: ResourceInventory,
  tenantId: string,
): object | undefined {
  const { principal, userAssigned } = resource;
  if (isUserAssignedIdentity(partsOf(resource))) return undefined;
  const types = [
    ...(principal ? ['SystemAssigned'] : []),
    ...(userAssigned.length > 0 ? ['UserAssigned'] : []),
  ];
  if (types.length === 0) return undefined;
  return {
    type: types.join(', '),
    ...(principal && { principalId: principal.principalId, tenantId }),
    ...(userAssigned.length > 0 && {
      userAssignedIdentities: Object.fromEntries(
        userAssigned.map((id) => [
          idInClaims(id),
          isFlexibleSet(resource) ? {} : assignedContent(id, inventory),
        ]),
      ),
    }),
  };
}

/** A flexible scale set names its identities without their IDs, because the instances are what uses them. */
function assignedContent(id: string, inventory: ResourceInventory): object {
  const principal = inventory.find(id)?.principal;
  return principal ? { principalId: principal.principalId, clientId: principal.clientId } : {};
}

function identifierOf(resource: Resource): object {
  const { namespace, type } = partsOf(resource);
  const fields: Record<string, string> = {
    'microsoft.compute/virtualmachines': 'vmId',
    'microsoft.compute/virtualmachinescalesets': 'uniqueId',
  };
  const field = fields[`${namespace}/${type}`.toLowerCase()];
  return field === undefined ? {} : { [field]: guidFrom(`unique ID of ${resource.id.toLowerCase()}`) };
}

export const subscriptionContent = (subscriptionId: string, tenantId: string): object => ({
  id: `/subscriptions/${subscriptionId}`,
  subscriptionId,
  tenantId,
  displayName: 'Sandbox',
  state: 'Enabled',
  authorizationSource: 'RoleBased',
});

export const groupContent = (subscriptionId: string, name: string): object => ({
  id: `/subscriptions/${subscriptionId}/resourceGroups/${name}`,
  name,
  type: 'Microsoft.Resources/resourceGroups',
  location: 'westus',
  properties: { provisioningState: 'Succeeded' },
});

/** https://learn.microsoft.com/rest/api/resources/providers/get */
export const providerContent = (
  namespace: string,
  types: readonly ResourceType[],
  subscriptionId: string | undefined,
): object => ({
  id: `${subscriptionId === undefined ? '' : `/subscriptions/${subscriptionId}`}/providers/${namespace}`,
  namespace,
  registrationPolicy: 'RegistrationRequired',
  registrationState: 'Registered',
  resourceTypes: types.map(({ resourceType, apiVersions }) => ({
    resourceType,
    locations: ['West US', 'East US', 'West Europe'],
    apiVersions,
    capabilities: 'None',
  })),
});
