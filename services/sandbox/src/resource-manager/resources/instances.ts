import type { Instance } from '../../directory/instance/instance.ts';
import { isOfType, partsOf, type Resource } from './resource.ts';
import { idInResponses } from './resource-id.ts';
import type { ResourceInventory } from './resource-inventory.ts';

const machine = 'Microsoft.Compute/virtualMachines';
const scaleSet = 'Microsoft.Compute/virtualMachineScaleSets';
const machineOfSet = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines';

/**
 * Describes a machine: a virtual machine, an instance of a uniform scale set, or with the ID of such a set its instance
 * 0. Without an ID, it is the first virtual machine. Undefined if there is none.
 */
export function instanceFrom(inventory: ResourceInventory, id: string | null): Instance | undefined {
  const all = inventory.all();
  const found = id === null ? all.find((one) => isOfType(partsOf(one), machine)) : inventory.find(id);
  if (!found) return undefined;
  const parts = partsOf(found);
  if (isOfType(parts, scaleSet)) return ofUniformSet(found, '0');
  if (isOfType(parts, machineOfSet)) return ofUniformSet(found, parts.name);
  return isOfType(parts, machine) ? { ...describe(found), scaleSetName: nameOfSet(found) } : undefined;
}

function ofUniformSet(resource: Resource, instanceId: string): Instance {
  const [set = ''] = partsOf(resource).names;
  const described = describe(resource);
  const setId = described.resourceId.split('/').slice(0, 9).join('/');
  return {
    ...described,
    resourceId: `${setId}/virtualMachines/${instanceId}`,
    name: `${set}_${instanceId}`,
    scaleSetName: set,
    identityHolder: setId,
  };
}

function describe(resource: Resource): Omit<Instance, 'scaleSetName'> {
  const { subscriptionId, resourceGroup, name } = partsOf(resource);
  const resourceId = idInResponses(resource.id);
  return {
    resourceId,
    subscriptionId,
    resourceGroup,
    name,
    location: resource.location,
    identityHolder: resourceId,
  };
}

/** The flexible scale set that a virtual machine is an instance of. */
function nameOfSet({ properties }: Resource): string {
  const set = properties.virtualMachineScaleSet;
  const id = typeof set === 'object' && set !== null && 'id' in set ? set.id : undefined;
  return typeof id === 'string' ? (id.split('/').at(-1) ?? '') : '';
}
