import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import {
  flexibleInstance,
  flexibleScaleSet,
  uniformScaleSet,
  userAssignedIdentity,
  virtualMachine,
  webSite,
} from '../../src/testing.ts';
import { resourceClients } from '../stores/cloudb/provider-clients.ts';

const group = 'sandbox';
let sandbox: Sandbox;
let clients: ReturnType<typeof resourceClients>;

beforeAll(async () => {
  sandbox = await startSandbox({ resourceManager: { pageSize: 2 } });
  clients = resourceClients(sandbox);
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.reset());

const identityNamed = (name: string) => sandbox.directory.identities.find((one) => one.name === name)!;
const idOf = (path: string) =>
  `/subscriptions/${sandbox.resourceManager.defaultGroup.subscriptionId}/resourceGroups/sandbox/providers/${path}`;

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe('a virtual machine', () => {
  test('has the system-assigned identity that the directory issues tokens for', async () => {
    const machine = await clients.compute.virtualMachines.get(group, 'web-1');
    const id = idOf('Microsoft.Compute/virtualMachines/web-1');
    expect(machine).toMatchObject({ id, name: 'web-1', location: 'westus' });
    expect(machine.identity).toMatchObject({
      type: 'SystemAssigned',
      principalId: identityNamed('web-1').oid,
      tenantId: sandbox.tenantId,
    });
    expect(identityNamed('web-1').resourceId.toLowerCase()).toBe(id.toLowerCase());
  });

  test('is found whatever the case of its names', async () => {
    const machine = await clients.compute.virtualMachines.get('SandBox', 'WEB-1');
    expect(machine.id).toBe(idOf('Microsoft.Compute/virtualMachines/web-1'));
  });

  test('has system-assigned and user-assigned identities at the same time', async () => {
    const target = sandbox.resourceManager.defaultGroup;
    const { id } = sandbox.resourceManager.addResource(userAssignedIdentity(target, 'shared'));
    const added = sandbox.resourceManager.addResource(
      virtualMachine(target, 'web-2', { principal: true, userAssigned: [id], location: 'eastus' }),
    );
    const { identity, location } = await clients.compute.virtualMachines.get(group, 'web-2');
    expect(location).toBe('eastus');
    expect(identity).toMatchObject({
      type: 'SystemAssigned, UserAssigned',
      principalId: added.principal?.principalId,
    });
    const shared = identityNamed('shared');
    expect(Object.values(identity?.userAssignedIdentities ?? {})).toEqual([
      { principalId: shared.oid, clientId: shared.appid },
    ]);
    expect(shared.resourceId).toMatch(/\/web-2$/);
  });

  test('without an identity has none in the response', async () => {
    sandbox.resourceManager.addResource(virtualMachine(sandbox.resourceManager.defaultGroup, 'bare'));
    expect((await clients.compute.virtualMachines.get(group, 'bare')).identity).toBeUndefined();
  });
});

describe('a scale set', () => {
  test('that is uniform names the principals of its identities', async () => {
    const set = await clients.compute.virtualMachineScaleSets.get(group, 'agents');
    const { oid: principalId, appid: clientId } = identityNamed('build-agent');
    expect(set.orchestrationMode).toBe('Uniform');
    expect(set.identity?.type).toBe('UserAssigned');
    const [[id, assigned] = []] = Object.entries(set.identity?.userAssignedIdentities ?? {});
    expect(id?.toLowerCase()).toBe(
      idOf('Microsoft.ManagedIdentity/userAssignedIdentities/build-agent').toLowerCase(),
    );
    expect(assigned).toEqual({ principalId, clientId });
  });

  test('that is flexible names its identities without their principals', async () => {
    const set = await clients.compute.virtualMachineScaleSets.get(group, 'workers');
    expect(set.orchestrationMode).toBe('Flexible');
    expect(Object.values(set.identity?.userAssignedIdentities ?? {})).toEqual([{}]);
  });

  test('that is flexible has virtual machines as instances', async () => {
    const instance = await clients.compute.virtualMachines.get(group, 'workers_0f4c1d2e');
    expect(instance.virtualMachineScaleSet?.id).toBe(
      idOf('Microsoft.Compute/virtualMachineScaleSets/workers'),
    );
    const identity = identityNamed('build-agent@workers_0f4c1d2e');
    expect(identity).toMatchObject({ kind: 'user-assigned', oid: identityNamed('build-agent').oid });
  });
});

test('a user-assigned identity has its principal and its client ID', async () => {
  const identity = await clients.identities.userAssignedIdentities.get(group, 'build-agent');
  const { oid: principalId, appid: clientId } = identityNamed('build-agent');
  expect(identity).toMatchObject({ principalId, clientId, tenantId: sandbox.tenantId });
});

describe('any other resource', () => {
  test('is found by its ID, with a version that its provider lists', async () => {
    const provider = await clients.resources.providers.get('microsoft.web');
    const sites = provider.resourceTypes?.find(({ resourceType }) => resourceType === 'sites');
    const [version = ''] = sites?.apiVersions?.filter((one) => !one.includes('preview')) ?? [];
    const site = await clients.resources.resources.getById(idOf('Microsoft.Web/sites/shop'), version);
    expect(site).toMatchObject({ location: 'West US', identity: { principalId: identityNamed('shop').oid } });
  });

  test('may have preview versions that are newer than the stable ones', async () => {
    for (const namespace of ['Microsoft.Compute', 'Microsoft.ManagedIdentity', 'Microsoft.App']) {
      const { resourceTypes = [] } = await clients.resources.providers.get(namespace);
      expect(resourceTypes[0]?.apiVersions?.[0]).toMatch(/-preview$/);
    }
  });

  test('of an unknown type makes its provider known', async () => {
    const id = idOf('Contoso.Things/widgets/w/parts/p');
    sandbox.resourceManager.addResource({ id, principal: true, apiVersions: ['2024-01-01'] });
    const { resourceTypes } = await clients.resources.providers.get('contoso.things');
    expect(resourceTypes).toMatchObject([{ resourceType: 'widgets/parts', apiVersions: ['2024-01-01'] }]);
    const { identity } = await clients.resources.resources.getById(id, '2024-01-01');
    expect(identity?.type).toBe('SystemAssigned');
  });
});

describe('lists', () => {
  const namesOf = async (list: AsyncIterable<{ name?: string }>) =>
    (await collect(list)).map(({ name }) => name);

  test('are returned in pages', async () => {
    const target = sandbox.resourceManager.defaultGroup;
    for (const name of ['a', 'b', 'c']) sandbox.resourceManager.addResource(virtualMachine(target, name));
    const names = ['web-1', 'workers_0f4c1d2e', 'a', 'b', 'c'];
    expect(await namesOf(clients.compute.virtualMachines.list(group))).toEqual(names);
    expect(await namesOf(clients.compute.virtualMachines.listAll())).toEqual(names);
    const pages = sandbox.resourceManager
      .calls()
      .filter(({ operation }) => operation === 'VirtualMachines_List');
    expect(pages).toHaveLength(6);
  });

  test('exist for each kind of resource, for groups and providers', async () => {
    const { compute, identities, resources } = clients;
    expect(await namesOf(compute.virtualMachineScaleSets.list(group))).toEqual(['agents', 'workers']);
    expect(await namesOf(identities.userAssignedIdentities.listByResourceGroup(group))).toEqual([
      'build-agent',
    ]);
    expect(await namesOf(resources.resourceGroups.list())).toEqual(['sandbox']);
    expect(await namesOf(resources.resources.list())).toHaveLength(6);
    expect(await namesOf(resources.resources.listByResourceGroup(group))).toHaveLength(6);
    expect(await collect(resources.providers.list())).not.toHaveLength(0);
  });

  test('of a scale set contain its own instances', async () => {
    for (const set of ['agents', 'agents-2'])
      sandbox.resourceManager.addResource({
        id: idOf(`Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/0`),
      });
    const found = await collect(clients.compute.virtualMachineScaleSetVMs.list(group, 'agents'));
    expect(found.map(({ id }) => id)).toEqual([
      idOf('Microsoft.Compute/virtualMachineScaleSets/agents/virtualMachines/0'),
    ]);
  });
});

test('the resources and role assignments are options of the sandbox', async () => {
  const group = { subscriptionId: '99999999-2222-4333-8444-555555555555', resourceGroup: 'prod' };
  const identity = userAssignedIdentity(group, 'deploy');
  const userAssigned = [identity.id];
  const set = flexibleScaleSet(group, 'flex', { userAssigned });
  const other = await startSandbox({
    resourceManager: {
      resources: [
        identity,
        set,
        flexibleInstance(group, set, 'a1b2c3d4'),
        uniformScaleSet(group, 'uniform', { userAssigned }),
        webSite(group, 'site', { principal: true }),
      ],
      roleAssignments: [
        { principalId: sandbox.directory.application.oid, scope: `/subscriptions/${group.subscriptionId}` },
      ],
    },
  });
  const { compute } = resourceClients(other, { subscriptionId: group.subscriptionId });
  const instance = await compute.virtualMachines.get('prod', 'flex_a1b2c3d4');
  expect(instance.virtualMachineScaleSet).toEqual({ id: set.id });
  const names = other.directory.identities.map(({ name }) => name);
  expect(names).toEqual(['deploy', 'deploy@uniform', 'site']);
  await other.stop();
});
