import type { PlaceRequest } from '../../../src/auth-methods/cloudb/decision/named-place.ts';
import type { RoleBody } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import {
  arcId,
  bare,
  groupOfEveryone,
  idOf,
  kelvin,
  lone,
  machineId,
  otherSubscription,
  placeless,
  setId,
  shared,
  siteId,
  slotId,
  subscription,
  systemToken,
  type TokenClaims,
  userToken,
} from './world.ts';

/** A login and its outcome. */
export interface Row {
  /** Completes the sentence "a login …". */
  name: string;
  role: RoleBody;
  token: TokenClaims;
  request: PlaceRequest;
  requirePrincipalBinding?: boolean;
  /** Part of the reason; absent if the login succeeds. */
  refused?: string;
  /** What the token's metadata name, if the login succeeds. */
  place?: Record<string, string>;
}

const inGroup = { subscription_id: subscription, resource_group_name: 'rg' };
export const machine = (name: string): PlaceRequest => ({ ...inGroup, vm_name: name });
export const set = (name: string): PlaceRequest => ({ ...inGroup, vmss_name: name });
export const other = (id: string): PlaceRequest => ({ ...inGroup, resource_id: id });

const web1 = machineId('web-1');
const flexible = machineId('flex_a1b2c3d4');

/** The kinds of identities, each with a login that its token proves. */
export const kinds: readonly {
  kind: string;
  token: TokenClaims;
  request: PlaceRequest;
  scaleSet?: string;
}[] = [
  { kind: 'machine, system-assigned', token: systemToken(web1), request: machine('web-1') },
  { kind: 'machine, user-assigned', token: userToken(web1), request: machine('web-1') },
  { kind: 'machine without claims', token: bare(systemToken(web1)), request: machine('web-1') },
  { kind: 'machine by ID', token: systemToken(web1), request: other(web1) },
  {
    kind: 'uniform set, system-assigned',
    token: systemToken(setId('agents')),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set, user-assigned',
    token: userToken(setId('agents')),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set without claims',
    token: bare(systemToken(setId('agents'))),
    request: set('agents'),
    scaleSet: 'agents',
  },
  {
    kind: 'uniform set by ID',
    token: userToken(setId('agents')),
    request: other(setId('agents')),
    scaleSet: 'agents',
  },
  {
    kind: 'set from before orchestration modes',
    token: userToken(setId('old')),
    request: set('old'),
    scaleSet: 'old',
  },
  { kind: 'flexible set, user-assigned', token: userToken(flexible), request: set('flex'), scaleSet: 'flex' },
  {
    kind: 'instance of a flexible set by its name',
    token: systemToken(flexible),
    request: machine('flex_a1b2c3d4'),
    scaleSet: 'flex',
  },
  {
    kind: 'instance of a flexible set by its ID',
    token: userToken(flexible),
    request: other(flexible),
  },
  { kind: 'other resource, system-assigned', token: systemToken(siteId), request: other(siteId) },
  { kind: 'other resource, user-assigned', token: userToken(siteId), request: other(siteId) },
  { kind: 'other resource without claims', token: bare(systemToken(siteId)), request: other(siteId) },
  { kind: 'part of another resource', token: systemToken(slotId), request: other(slotId) },
  { kind: 'machine outside of the cloud', token: systemToken(arcId), request: other(arcId) },
];

/** Each kind of identity with each bound alone and with each pair of bounds, of which each matches or does not. */
export const boundRows: readonly Row[] = kinds.flatMap(({ kind, token, request, scaleSet }) => {
  const values: Record<string, [right: string, wrong: string]> = {
    bound_service_principal_ids: [token.oid.toUpperCase(), `${token.oid}0`],
    bound_group_ids: [groupOfEveryone, subscription],
    bound_subscription_ids: [subscription.toUpperCase(), otherSubscription],
    bound_resource_groups: ['RG', 'rg-prod'],
    bound_scale_sets: [(scaleSet ?? 'no set').toUpperCase(), `${scaleSet}-2`],
    bound_locations: ['West US', 'westus2'],
  };
  const fields = Object.keys(values);
  const singles = fields.map((field) => [field]);
  const pairs = fields.flatMap((one, index) => fields.slice(index + 1).map((two) => [one, two]));
  return [...singles, ...pairs].flatMap((chosen) =>
    combinations(chosen).map((matches): Row => {
      const role = Object.fromEntries(
        chosen.map((field, index) => [field, [values[field]![matches[index] ? 0 : 1]]]),
      );
      const failed = chosen.find(
        (field, index) => !matches[index] || (field === 'bound_scale_sets' && scaleSet === undefined),
      );
      const refused = chosen.join() === 'bound_locations' ? 'admits nobody' : failed;
      const described = chosen.map((field, index) => `${matches[index] ? '' : 'another '}${field}`);
      return {
        name: `of ${kind} with ${described.join(', ')}`,
        role,
        token,
        request,
        ...(refused ? { refused } : {}),
      };
    }),
  );
});

/** Every combination of matching and not matching. */
function combinations(of: readonly unknown[]): boolean[][] {
  const none: boolean[][] = [[]];
  return of.reduce<boolean[][]>(
    (found) => found.flatMap((some) => [true, false].map((one) => [...some, one])),
    none,
  );
}

const inRg: RoleBody = { bound_subscription_ids: [subscription], bound_resource_groups: ['rg'] };
const inSubscription = { bound_subscription_ids: [subscription] };
const proves = 'is not what the token proves';
const notAssigned = 'is not an identity of the named';
const whereItRuns = 'does not prove where it runs';

/** The rules of the decision that are not about bounds. */
export const rows: readonly Row[] = [
  {
    name: 'names its machine in another case',
    role: inRg,
    token: systemToken(web1.toUpperCase()),
    request: { subscription_id: subscription.toUpperCase(), resource_group_name: 'RG', vm_name: 'WEB-1' },
    place: { subscriptionId: subscription, resourceGroup: 'rg', machine: 'web-1' },
  },
  {
    name: 'of a uniform set has no machine name',
    role: inRg,
    token: userToken(setId('agents')),
    request: set('agents'),
    place: { subscriptionId: subscription, resourceGroup: 'rg', scaleSet: 'agents' },
  },
  {
    name: 'of an instance whose token names the instance of the uniform set',
    role: inRg,
    token: { ...userToken(setId('agents')), xms_az_rid: `${setId('agents')}/virtualMachines/3` },
    request: set('agents'),
  },
  {
    name: 'of a flexible set has both names',
    role: inRg,
    token: userToken(flexible),
    request: set('flex'),
    place: { subscriptionId: subscription, resourceGroup: 'rg', scaleSet: 'flex', machine: 'flex_a1b2c3d4' },
  },
  {
    name: 'prefers the scale set to the machine',
    role: inRg,
    token: userToken(setId('agents')),
    request: { ...set('agents'), vm_name: 'web-1' },
  },
  {
    name: 'prefers the scale set to the machine of the token',
    role: inRg,
    token: systemToken(web1),
    request: { ...set('agents'), vm_name: 'web-1' },
    refused: proves,
  },
  {
    name: 'prefers the machine to the resource',
    role: inRg,
    token: systemToken(web1),
    request: { ...machine('web-1'), resource_id: siteId },
  },
  {
    name: 'prefers the machine to the resource of the token',
    role: inRg,
    token: systemToken(siteId),
    request: { ...machine('web-1'), resource_id: siteId },
    refused: proves,
  },
  {
    name: 'without a subscription',
    role: inRg,
    token: systemToken(web1),
    request: { resource_group_name: 'rg', vm_name: 'web-1' },
    refused: 'subscription_id is required',
  },
  {
    name: 'without a resource group',
    role: inRg,
    token: systemToken(web1),
    request: { subscription_id: subscription, vm_name: 'web-1' },
    refused: 'resource_group_name is required',
  },
  {
    name: 'without a machine',
    role: inRg,
    token: systemToken(web1),
    request: inGroup,
    refused: 'vm_name, vmss_name or resource_id is required',
  },
  {
    name: 'needs no machine if only principals are bound',
    role: { bound_service_principal_ids: [shared.principalId] },
    token: placeless(userToken(web1)),
    request: {},
  },
  {
    name: 'needs no machine if other bounds contain *',
    role: { bound_service_principal_ids: [shared.principalId], bound_resource_groups: ['*'] },
    token: placeless(userToken(web1)),
    request: {},
  },
  {
    name: 'with * as the only bound',
    role: { bound_resource_groups: ['*'] },
    token: systemToken(web1),
    request: machine('web-1'),
    refused: 'admits nobody',
  },
  {
    name: 'with * as the principal and a location',
    role: { bound_service_principal_ids: ['*'], bound_locations: ['westus'] },
    token: systemToken(web1),
    request: machine('web-1'),
    refused: 'admits nobody',
  },
  {
    name: 'with * beside the right name',
    role: { bound_resource_groups: ['rg', '*'] },
    token: systemToken(web1),
    request: machine('web-1'),
    refused: 'admits nobody',
  },
  {
    name: 'of a place that is bound, if the mount requires a principal',
    role: inRg,
    token: systemToken(web1),
    request: machine('web-1'),
    requirePrincipalBinding: true,
    refused: 'require_principal_binding',
  },
  {
    name: 'of a principal that is bound, if the mount requires one',
    role: { ...inRg, bound_group_ids: [groupOfEveryone] },
    token: systemToken(web1),
    request: machine('web-1'),
    requirePrincipalBinding: true,
  },
  {
    name: 'of a principal bound by *, if the mount requires one',
    role: { ...inRg, bound_group_ids: ['*'] },
    token: systemToken(web1),
    request: machine('web-1'),
    requirePrincipalBinding: true,
    refused: 'require_principal_binding',
  },
  {
    name: 'with groups that the token omits',
    role: { ...inRg, bound_group_ids: [groupOfEveryone] },
    token: { ...systemToken(web1), groups: [], hasgroups: true },
    request: machine('web-1'),
    refused: 'too many',
  },
  {
    name: 'of a user-assigned identity without the claim of its machine',
    role: inRg,
    token: placeless(userToken(web1)),
    request: machine('web-1'),
    refused: whereItRuns,
  },
  {
    name: 'of a user-assigned identity without any claim',
    role: inRg,
    token: bare(userToken(web1)),
    request: machine('web-1'),
    refused: whereItRuns,
  },
  {
    name: 'of a user-assigned identity of a set without any claim',
    role: inRg,
    token: bare(userToken(setId('agents'))),
    request: set('agents'),
    refused: whereItRuns,
  },
  {
    name: 'of a user-assigned identity of a service without any claim',
    role: inRg,
    token: bare(userToken(siteId)),
    request: other(siteId),
    refused: whereItRuns,
  },
  {
    name: 'of an identity that names itself as the resource',
    role: inRg,
    token: placeless(userToken(web1)),
    request: other(shared.id),
    refused: whereItRuns,
  },
  {
    name: 'of an identity that claims to run on itself',
    role: inRg,
    token: userToken(shared.id),
    request: other(shared.id),
    refused: whereItRuns,
  },
  {
    name: 'of an identity known by its client ID alone',
    role: inRg,
    token: { ...userToken(web1), oid: lone.principalId },
    request: machine('web-1'),
  },
  {
    name: 'of a client ID without any claim',
    role: inRg,
    token: { ...bare(userToken(web1)), oid: lone.principalId },
    request: machine('web-1'),
    refused: whereItRuns,
  },
  {
    name: 'of an identity that the machine no longer has',
    role: inRg,
    token: userToken(web1, lone),
    request: machine('web-1'),
    refused: notAssigned,
  },
  {
    name: 'of an identity that the set no longer has',
    role: inRg,
    token: userToken(setId('agents'), lone),
    request: set('agents'),
    refused: notAssigned,
  },
  {
    name: 'of an identity that the flexible set no longer has',
    role: inRg,
    token: userToken(flexible, lone),
    request: set('flex'),
    refused: notAssigned,
  },
  {
    name: 'of an identity of the flexible set that the token does not name',
    role: inRg,
    token: { ...bare(userToken(flexible)), xms_az_rid: flexible },
    request: set('flex'),
  },
  {
    name: 'of the own identity of an instance of a flexible set, by the name of the set',
    role: inRg,
    token: systemToken(flexible),
    request: set('flex'),
    refused: notAssigned,
  },
  {
    name: 'of a machine that does not exist',
    role: inRg,
    token: { ...systemToken(web1), xms_mirid: machineId('gone') },
    request: machine('gone'),
    refused: 'no virtual machine of this name',
  },
  {
    name: 'of a set that does not exist',
    role: inRg,
    token: { ...systemToken(web1), xms_mirid: setId('gone') },
    request: set('gone'),
    refused: 'no scale set of this name',
  },
  {
    name: 'of a resource that does not exist',
    role: inRg,
    token: { ...systemToken(web1), xms_mirid: `${siteId}-gone` },
    request: other(`${siteId}-gone`),
    refused: 'no resource of this name',
  },
  {
    name: 'of a set by the name of a machine',
    role: inRg,
    token: systemToken(setId('agents')),
    request: machine('agents'),
    refused: proves,
  },
  {
    name: 'of a machine by the name of a set',
    role: inRg,
    token: systemToken(web1),
    request: set('web-1'),
    refused: proves,
  },
  ...[
    'nonsense',
    '/subscriptions/x',
    `${web1}/`,
    `${web1}/extra`,
    web1.slice(1),
    `${web1}?x`,
    `${web1}#`,
    `/x/../${web1}`,
  ].flatMap((malformed): Row[] => [
    {
      name: `with ${malformed} as xms_mirid`,
      role: inRg,
      token: { ...systemToken(web1), xms_mirid: malformed },
      request: machine('web-1'),
      refused: 'not the ID of a resource',
    },
    {
      name: `with ${malformed} as xms_az_rid`,
      role: inRg,
      token: { ...userToken(web1), xms_az_rid: malformed },
      request: machine('web-1'),
      refused: 'not the ID of a resource',
    },
    {
      name: `with ${malformed} as xms_mirid beside the right xms_az_rid`,
      role: inRg,
      token: { ...userToken(web1), xms_mirid: malformed },
      request: machine('web-1'),
      refused: 'not the ID of a resource',
    },
  ]),
];

/** What somebody may try who owns another machine of the tenant, or parts of the subscription. */
export const attacks: readonly Row[] = [
  {
    name: "with a good machine's name and a bad machine's token",
    role: inRg,
    token: systemToken(machineId('web-10')),
    request: machine('web-1'),
    refused: proves,
  },
  {
    name: "with a good machine's name and a bad machine's token without claims",
    role: inRg,
    token: bare(systemToken(machineId('web-10'))),
    request: machine('web-1'),
    refused: notAssigned,
  },
  {
    name: "with a good machine's name and the token of the shared identity on a bad one",
    role: inRg,
    token: userToken(machineId('web-10')),
    request: machine('web-1'),
    refused: proves,
  },
  {
    name: 'from a machine whose name is a prefix',
    role: inRg,
    token: systemToken(web1),
    request: machine('web-10'),
    refused: proves,
  },
  {
    name: 'from a machine of the same name in another subscription',
    role: inSubscription,
    token: systemToken(machineId('web-1', 'rg', otherSubscription)),
    request: machine('web-1'),
    refused: proves,
  },
  {
    name: 'from a machine of the same name in another subscription, without claims',
    role: inSubscription,
    token: bare(systemToken(machineId('web-1', 'rg', otherSubscription))),
    request: machine('web-1'),
    refused: notAssigned,
  },
  {
    name: 'from a machine of the same name in another resource group',
    role: inRg,
    token: systemToken(machineId('web-1', 'rg-prod')),
    request: machine('web-1'),
    refused: proves,
  },
  {
    name: 'from a resource group whose name begins with that of the bound one',
    role: inRg,
    token: systemToken(machineId('web-1', 'rg-prod')),
    request: { ...machine('web-1'), resource_group_name: 'rg-prod' },
    refused: 'bound_resource_groups',
  },
  {
    name: 'from a resource group that differs in a letter that looks like a k',
    role: { bound_resource_groups: ['kube'] },
    token: systemToken(machineId('web-1', `${kelvin}ube`)),
    request: { ...machine('web-1'), resource_group_name: `${kelvin}ube` },
    refused: 'bound_resource_groups',
  },
  {
    name: 'with the name of a resource group that differs in a letter that looks like a k',
    role: { bound_resource_groups: ['kube'] },
    token: systemToken(machineId('web-1', `${kelvin}ube`)),
    request: { ...machine('web-1'), resource_group_name: 'kube' },
    refused: proves,
  },
  {
    name: 'of a set of the same name in another subscription',
    role: inSubscription,
    token: systemToken(setId('agents', 'rg', otherSubscription)),
    request: set('agents'),
    refused: proves,
  },
  {
    name: 'of a set whose name is a prefix',
    role: inRg,
    token: userToken(setId('agents')),
    request: set('agents-2'),
    refused: proves,
  },
  {
    name: 'of a set whose name begins with that of the bound one',
    role: { ...inRg, bound_scale_sets: ['agents'] },
    token: userToken(setId('agents-2')),
    request: set('agents-2'),
    refused: 'bound_scale_sets',
  },
  {
    name: 'of a flexible set whose name begins with that of another',
    role: inRg,
    token: userToken(machineId('flex_1_9f8e7d6c')),
    request: set('flex'),
    refused: proves,
  },
  {
    name: 'from a machine that is named like an instance of a uniform set',
    role: inRg,
    token: userToken(machineId('agents_evil0000')),
    request: set('agents'),
    refused: 'is uniform',
  },
  {
    name: 'from a machine that is named like an instance of a bound flexible set',
    role: { bound_scale_sets: ['flex'] },
    token: userToken(machineId('flex_evil0000')),
    request: set('flex'),
    refused: 'not an instance',
  },
  {
    name: 'from a machine of another provider with the same name',
    role: inRg,
    token: systemToken(arcId),
    request: machine('web-1'),
    refused: proves,
  },
  {
    name: 'from a machine of another provider with the same name, without claims',
    role: inRg,
    token: bare(systemToken(arcId)),
    request: machine('web-1'),
    refused: notAssigned,
  },
  {
    name: 'of a resource for which only its part has the identity',
    role: inRg,
    token: systemToken(slotId),
    request: other(siteId),
    refused: proves,
  },
  {
    name: 'of a part for which only the whole has the identity',
    role: inRg,
    token: systemToken(siteId),
    request: other(slotId),
    refused: proves,
  },
  {
    name: 'with a resource ID outside of the named resource group',
    role: inRg,
    token: systemToken(machineId('web-1', 'rg-prod')),
    request: other(machineId('web-1', 'rg-prod')),
    refused: 'resource_id',
  },
  {
    name: 'with a resource ID outside of the named subscription',
    role: inSubscription,
    token: systemToken(machineId('web-1', 'rg', otherSubscription)),
    request: other(machineId('web-1', 'rg', otherSubscription)),
    refused: 'resource_id',
  },
  {
    name: 'with the ID of a good resource and the token of a bad one',
    role: inRg,
    token: systemToken(siteId),
    request: other(web1),
    refused: proves,
  },
  {
    name: 'with the ID of a good resource and the token of a bad one, without claims',
    role: inRg,
    token: bare(systemToken(siteId)),
    request: other(web1),
    refused: notAssigned,
  },
  {
    name: 'with a machine as scale set, named by its ID',
    role: { bound_scale_sets: ['web-1'] },
    token: systemToken(web1),
    request: other(web1),
    refused: 'bound_scale_sets',
  },
  {
    name: 'with a service that is called like the bound set',
    role: { bound_scale_sets: ['app'] },
    token: systemToken(siteId),
    request: other(siteId),
    refused: 'bound_scale_sets',
  },
  {
    name: 'from a machine that adds a good machine to the request',
    role: { bound_scale_sets: ['agents'] },
    token: systemToken(web1),
    request: { ...set('agents'), vm_name: 'web-1', resource_id: web1 },
    refused: proves,
  },
  {
    name: 'of an identity without a resource, which names a set in which nobody can check it',
    role: inRg,
    token: placeless(userToken(flexible)),
    request: set('flex'),
    refused: whereItRuns,
  },
  {
    name: 'of an identity in a resource named like a machine',
    role: inRg,
    token: { ...systemToken(web1), xms_mirid: idOf('Evil.Compute/virtualMachines/web-1') },
    request: machine('web-1'),
    refused: proves,
  },
];
