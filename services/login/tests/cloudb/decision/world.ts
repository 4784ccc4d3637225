import { Problem } from '@secrets/domain';
import {
  type AssignedIdentity,
  MissingPermission,
  type Provider,
  type ProviderResource,
  type ResourceName,
} from '../../../src/auth-methods/cloudb/provider/provider.ts';

// The resources of the decision table, and the tokens of what runs on them.

export const subscription = 'aaaaaaaa-0000-4000-8000-000000000001';
export const otherSubscription = 'bbbbbbbb-0000-4000-8000-000000000002';
export const groupOfEveryone = '99999999-0000-4000-8000-000000000009';

/** A GUID that ends with a number, which identifies it in the message of a failed test. */
const guid = (number: number): string => `dddddddd-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** The ID of a resource, as ARM spells it. */
export const idOf = (path: string, group = 'rg', inSubscription = subscription): string =>
  `/subscriptions/${inSubscription}/resourceGroups/${group}/providers/${path}`;

export const machineId = (name: string, group?: string, inSubscription?: string): string =>
  idOf(`Microsoft.Compute/virtualMachines/${name}`, group, inSubscription);
export const setId = (name: string, group?: string, inSubscription?: string): string =>
  idOf(`Microsoft.Compute/virtualMachineScaleSets/${name}`, group, inSubscription);
export const siteId = idOf('Microsoft.Web/sites/app');
export const slotId = `${siteId}/slots/stage`;
export const arcId = idOf('Microsoft.HybridCompute/machines/web-1');

/** The Kelvin sign, which `toLowerCase` turns into a k. */
export const kelvin = '\u212a';

/** A user-assigned identity that machines, sets and services share. */
export const shared: AssignedIdentity = {
  id: idOf('Microsoft.ManagedIdentity/userAssignedIdentities/shared'),
  principalId: guid(1),
  clientId: guid(2),
};
/** Another one of the same subscription. */
export const lone: AssignedIdentity = {
  id: idOf('Microsoft.ManagedIdentity/userAssignedIdentities/lone'),
  principalId: guid(3),
  clientId: guid(4),
};

const resource = (id: string, over: Partial<ProviderResource> = {}): ProviderResource => ({
  id,
  location: 'westus',
  userAssigned: [],
  ...over,
});

/** An identity in the form in which the API returns those of a flexible set. */
const unexpanded = { ...shared, principalId: '', clientId: '' };
const both = (principal: number) => ({ systemAssigned: guid(principal), userAssigned: [shared] });

export const resources: readonly ProviderResource[] = [
  resource(machineId('web-1'), both(11)),
  resource(machineId('web-10'), both(12)),
  resource(machineId('web-1', 'rg-prod'), both(13)),
  resource(machineId('web-1', 'rg', otherSubscription), { ...both(14), location: 'eastus' }),
  resource(machineId('web-1', 'kube'), both(15)),
  resource(machineId('web-1', `${kelvin}ube`), both(16)),
  resource(setId('agents'), { ...both(21), orchestration: 'uniform', location: 'West US' }),
  resource(setId('agents-2'), { ...both(22), orchestration: 'uniform' }),
  resource(setId('agents', 'rg', otherSubscription), { ...both(23), orchestration: 'uniform' }),
  resource(setId('old'), both(24)), // from before there was an orchestration mode
  resource(setId('flex'), { userAssigned: [unexpanded], orchestration: 'flexible' }),
  resource(setId('flex_1'), { userAssigned: [unexpanded], orchestration: 'flexible' }),
  resource(machineId('flex_a1b2c3d4'), { ...both(31), scaleSetId: setId('flex') }),
  resource(machineId('flex_1_9f8e7d6c'), { ...both(32), scaleSetId: setId('flex_1') }),
  resource(machineId('flex_evil0000'), { ...both(33), location: 'eastus' }), // in no set
  resource(machineId('agents_evil0000'), both(34)), // in no set
  resource(siteId, both(41)),
  resource(slotId, both(42)),
  resource(arcId, { systemAssigned: guid(43) }),
];

const byId = new Map(resources.map((found) => [found.id.toUpperCase(), found]));

/** The resource with an ID, of any case. */
const resourceAt = (id: string): ProviderResource | undefined => byId.get(id.toUpperCase());

/** The claims of a token that decide. */
export interface TokenClaims {
  oid: string;
  appid?: string;
  groups?: string[];
  xms_mirid?: string;
  xms_az_rid?: string;
  /** Whether the token omits groups. */
  hasgroups?: boolean;
}

/** The token of what runs with its own identity. */
export const systemToken = (id: string): TokenClaims => ({
  oid: resourceAt(id)!.systemAssigned!,
  appid: guid(90),
  groups: [groupOfEveryone],
  xms_mirid: id,
});

/** The token of what runs with the shared identity. */
export const userToken = (id: string, identity = shared): TokenClaims => ({
  oid: identity.principalId,
  appid: identity.clientId,
  groups: [groupOfEveryone],
  xms_mirid: identity.id,
  xms_az_rid: id,
});

/** A token without the claims that name resources, as for some audiences. */
export const bare = ({ xms_az_rid, xms_mirid, ...claims }: TokenClaims): TokenClaims => claims;

/** The token of a user-assigned identity that does not say where it was issued. */
export const placeless = ({ xms_az_rid, ...claims }: TokenClaims): TokenClaims => claims;

/** The provider's API with the resources of the table. */
const tableProvider: Provider = {
  findMachine: async (name) => resourceAt(machineId(...pathOf(name))),
  findScaleSet: async (name) => resourceAt(setId(...pathOf(name))),
  findResource: async (id) => {
    const found = resourceAt(id);
    return found && { ...found, scaleSetId: undefined, orchestration: undefined }; // the general API does not return these
  },
  findIdentity: async (id) =>
    [shared, lone].find((identity) => identity.id.toLowerCase() === id.toLowerCase()),
};

/** The API's answers to requests for virtual machines: complete, refused for lack of the permission, or unusable. */
export type MachineAnswers = 'complete' | 'forbidden' | 'unusable';

/** The provider's API as the credentials of a mount see it. */
export function providerWith(machines: MachineAnswers): Provider {
  if (machines === 'complete') return tableProvider;
  const problem =
    machines === 'forbidden'
      ? new MissingPermission('virtual machines', 'Microsoft.Compute/virtualMachines/read')
      : new Problem('bad_gateway', 'not usable');
  return { ...tableProvider, findMachine: () => Promise.reject(problem) };
}

const pathOf = ({ name, resourceGroup, subscriptionId }: ResourceName) =>
  [name, resourceGroup, subscriptionId] as const;
