import type { ResourceSpec } from './resource.ts';

/** A resource group of a subscription. */
export interface ResourceGroup {
  subscriptionId: string;
  resourceGroup: string;
}

type Details = Omit<ResourceSpec, 'id'>;

const resourceIn =
  (type: string) =>
  ({ subscriptionId, resourceGroup }: ResourceGroup, name: string, details: Details = {}): ResourceSpec => ({
    id: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/${type}/${name}`,
    ...details,
  });

/** A virtual machine; with the default details, it has no identity. */
export const virtualMachine = resourceIn('Microsoft.Compute/virtualMachines');
export const webSite = resourceIn('Microsoft.Web/sites');
export const userAssignedIdentity = resourceIn('Microsoft.ManagedIdentity/userAssignedIdentities');
const scaleSet = resourceIn('Microsoft.Compute/virtualMachineScaleSets');

export function uniformScaleSet(group: ResourceGroup, name: string, details: Details = {}): ResourceSpec {
  const properties = { orchestrationMode: 'Uniform', ...details.properties };
  return scaleSet(group, name, { ...details, properties });
}

export function flexibleScaleSet(group: ResourceGroup, name: string, details: Details = {}): ResourceSpec {
  const properties = { orchestrationMode: 'Flexible', ...details.properties };
  return scaleSet(group, name, { ...details, properties });
}

/** An instance of a flexible scale set: a virtual machine `<set>_<suffix>` with the identities of the set. */
export function flexibleInstance(
  group: ResourceGroup,
  { id, userAssigned = [] }: ResourceSpec,
  suffix: string,
  details: Details = {},
): ResourceSpec {
  const name = `${id.split('/').at(-1)}_${suffix}`;
  const properties = { virtualMachineScaleSet: { id }, ...details.properties };
  return virtualMachine(group, name, { userAssigned, ...details, properties });
}
