import { partsOf } from './resource.ts';
import type { ResourceInventory } from './resource-inventory.ts';

/** A type of a provider's resources, with its API versions, newest first. */
export interface ResourceType {
  resourceType: string;
  apiVersions: readonly string[];
}

const compute = [
  '2026-06-01-preview',
  '2026-04-01',
  '2025-11-01',
  '2025-04-01',
  '2024-11-01',
  '2024-07-01',
  '2024-03-01',
  '2023-09-01',
  '2022-03-01',
  '2021-07-01',
];
const web = ['2025-05-01', '2025-03-01', '2024-11-01', '2024-04-01', '2023-12-01', '2022-03-01'];

/** The types that the sandbox knows, by their provider. As in the cloud, preview versions are among the versions. */
const known: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Microsoft.Compute': {
    virtualMachines: compute,
    virtualMachineScaleSets: compute,
    'virtualMachineScaleSets/virtualMachines': compute,
  },
  'Microsoft.ManagedIdentity': {
    userAssignedIdentities: [
      '2025-01-31-preview',
      '2024-11-30',
      '2023-07-31-preview',
      '2023-01-31',
      '2022-01-31-preview',
      '2018-11-30',
    ],
  },
  'Microsoft.Web': { sites: web, 'sites/slots': web, serverFarms: web },
  'Microsoft.App': {
    containerApps: ['2025-10-02-preview', '2025-07-01', '2025-02-02-preview', '2025-01-01', '2024-03-01'],
    jobs: ['2025-10-02-preview', '2025-07-01', '2025-01-01', '2024-03-01'],
  },
  'Microsoft.ContainerInstance': {
    containerGroups: ['2025-09-01', '2024-11-01-preview', '2023-05-01', '2021-10-01'],
  },
};
const ofOtherTypes = ['2025-06-01-preview', '2024-09-01', '2023-03-01'];

/** The API versions of what is not a provider's resource: subscriptions, resource groups, providers. */
export const managementVersions = [
  '2025-04-01',
  '2025-03-01',
  '2024-11-01',
  '2024-07-01',
  '2024-03-01',
  '2023-07-01',
  '2022-12-01',
  '2022-09-01',
  '2021-04-01',
  '2021-01-01',
  '2020-10-01',
  '2020-06-01',
];

/** The providers, with the types that the sandbox knows and those of the resources that exist. */
export function providersOf(inventory: ResourceInventory): ReadonlyMap<string, ResourceType[]> {
  const providers = new Map<string, ResourceType[]>();
  const add = (namespace: string, resourceType: string, apiVersions: readonly string[]) => {
    const [name = namespace] = [...providers.keys()].filter((one) => isSame(one, namespace));
    const types = providers.get(name) ?? [];
    if (!types.some((one) => isSame(one.resourceType, resourceType)))
      types.push({ resourceType, apiVersions });
    providers.set(name, types);
  };
  for (const [namespace, types] of Object.entries(known))
    for (const [type, versions] of Object.entries(types)) add(namespace, type, versions);
  for (const resource of inventory.all()) {
    const { namespace, type } = partsOf(resource);
    add(namespace, type, resource.apiVersions ?? ofOtherTypes);
  }
  return providers;
}

/** The provider with this namespace, in its own spelling. */
export function findProvider(
  inventory: ResourceInventory,
  namespace: string,
): { namespace: string; types: ResourceType[] } | undefined {
  const [found] = [...providersOf(inventory)].filter(([name]) => isSame(name, namespace));
  return found && { namespace: found[0], types: found[1] };
}

export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
