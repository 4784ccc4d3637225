import type { Directory } from '../directory/directory.ts';
import { observeCalls } from '../simulation/observe-calls.ts';
import type { Simulation, SimulationContext } from '../simulation/simulation.ts';
import { resourceRoutes } from './endpoint/resource-routes.ts';
import { defaultGroup, defaultResources } from './resources/default-resources.ts';
import type { Resource, ResourceSpec } from './resources/resource.ts';
import { ResourceInventory } from './resources/resource-inventory.ts';
import type { ResourceGroup } from './resources/resource-specs.ts';
import { type RoleAssignment, type RoleAssignmentSpec, RoleAssignments } from './role-assignments.ts';

const NAME = 'resource-manager';

export interface ResourceManagerOptions {
  /**
   * The resources that exist. Default: a virtual machine, a uniform and a flexible scale set, a web site and a
   * user-assigned identity.
   */
  resources?: ResourceSpec[];
  /** Who may read what. Default: the directory's application may read the default subscription. */
  roleAssignments?: RoleAssignmentSpec[];
  /** How many items a page of a list has. Default 50. */
  pageSize?: number;
}

/** The simulated resource API. Operations for faults are those of its clients, such as `VirtualMachines_Get`. */
export interface ResourceManager extends Simulation {
  /** The resource group of the default resources. */
  readonly defaultGroup: ResourceGroup;
  resources(): Resource[];
  /**
   * Adds a resource, or replaces the one with its ID.
   * @throws ZodError if it is invalid; RangeError if there are 10,000 resources already
   */
  addResource(spec: ResourceSpec): Resource;
  /** Returns whether it existed. */
  removeResource(id: string): boolean;
  roleAssignments(): RoleAssignment[];
  /** Returns its ID. Throws ZodError if it is invalid. */
  addRoleAssignment(spec: RoleAssignmentSpec): string;
  /** Returns whether it existed. */
  removeRoleAssignment(id: string): boolean;
}

/** The resources of the simulated cloud; the directory has their identities, and the resource API shows them. */
export const createInventory = (
  { seed, persist }: SimulationContext,
  { resources = defaultResources(seed) }: ResourceManagerOptions = {},
): ResourceInventory => new ResourceInventory(seed, resources, persist);

/** Simulates the API that describes the resources of a subscription. It accepts the tokens of the simulated directory. */
export function simulateResourceManager(
  {
    seed,
    now,
    persist,
    directory,
    inventory,
  }: SimulationContext & { directory: Directory; inventory: ResourceInventory },
  options: ResourceManagerOptions = {},
): ResourceManager {
  const calls = observeCalls(NAME, now);
  const group = defaultGroup(seed);
  const reader = { principalId: directory.application.oid, scope: `/subscriptions/${group.subscriptionId}` };
  const assignments = new RoleAssignments(options.roleAssignments ?? [reader], persist);
  const restoreDefaults = () => {
    inventory.restoreDefaults();
    assignments.restoreDefaults();
  };
  return {
    ...calls.members,
    path: '/arm',
    routes: resourceRoutes({
      calls: calls.context,
      directory,
      inventory,
      assignments,
      pageSize: options.pageSize ?? 50,
    }),
    defaultGroup: group,
    resources: () => inventory.all(),
    addResource: (spec) => inventory.put(spec),
    removeResource: (id) => inventory.remove(id),
    roleAssignments: () => assignments.list(),
    addRoleAssignment: (spec) => assignments.add(spec),
    removeRoleAssignment: (id) => assignments.remove(id),
    reset: () => {
      restoreDefaults();
      calls.clear();
      persist({ restored: true });
    },
    replay: (record) => {
      if ('restored' in record) restoreDefaults();
      inventory.replay(record);
      assignments.replay(record);
    },
    snapshot: () => [{ emptied: true }, ...inventory.snapshot(), ...assignments.snapshot()],
  };
}
