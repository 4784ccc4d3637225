import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Problem } from '@secrets/domain';
import { userAssignedIdentity, virtualMachine } from '@secrets/sandbox/testing';
import type { Provider, ResourceName } from '../../../src/auth-methods/cloudb/provider/provider.ts';
import { type ProviderForTest, startProviderForTest } from './provider-for-test.ts';

let cloud: ProviderForTest;
let provider: Provider;

beforeAll(async () => {
  cloud = await startProviderForTest();
});
beforeEach(async () => {
  await cloud.configure();
  provider = await cloud.replica().provider();
  cloud.calls();
});
afterEach(() => {
  cloud.sandbox.reset();
});
afterAll(() => cloud.stop());

const named = (name: string): ResourceName => ({ ...cloud.sandbox.resourceManager.defaultGroup, name });
const described = (ending: string) =>
  cloud.sandbox.resourceManager.resources().find(({ id }) => id.endsWith(ending))!;
const problemOf = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => {
      throw new Error('did not fail');
    },
    (error: Problem) => error,
  );

describe('finds', () => {
  test('a machine with its system-assigned identity', async () => {
    const { id, principal } = described('/web-1');
    expect(await provider.findMachine(named('web-1'))).toEqual({
      id,
      location: 'westus',
      systemAssigned: principal!.principalId,
      userAssigned: [],
    });
  });

  test('a uniform scale set with its user-assigned identities', async () => {
    const { id, principal } = described('/build-agent');
    const sameId = expect.stringMatching(new RegExp(`^${id}$`, 'i')); // the API changes its case
    expect(await provider.findScaleSet(named('agents'))).toMatchObject({
      orchestration: 'uniform',
      userAssigned: [{ id: sameId, ...principalIds(principal!) }],
    });
  });

  test('a flexible scale set, whose identities the API returns without principals', async () => {
    expect(await provider.findScaleSet(named('workers'))).toMatchObject({
      orchestration: 'flexible',
      userAssigned: [{ principalId: '', clientId: '' }],
    });
  });

  test('the flexible scale set of an instance', async () => {
    const found = await provider.findMachine(named('workers_0f4c1d2e'));
    expect(found?.scaleSetId).toBe(described('/workers').id);
  });

  test('a user-assigned identity', async () => {
    const { id, principal } = described('/build-agent');
    expect(await provider.findIdentity(id)).toEqual({ id, ...principalIds(principal!) });
  });

  test('a resource of another type, with the newest API version that is not a preview', async () => {
    const { id, principal } = described('/shop');
    expect(await provider.findResource(id)).toMatchObject({
      location: 'West US',
      systemAssigned: principal!.principalId,
    });
    expect(cloud.calls()).toEqual(['token', 'Providers_Get', 'Resources_GetById']);
  });

  test('nothing where there is nothing', async () => {
    expect(await provider.findMachine(named('nothing'))).toBeUndefined();
    expect(await provider.findScaleSet({ ...named('x'), resourceGroup: 'nowhere' })).toBeUndefined();
    const identity = userAssignedIdentity(cloud.sandbox.resourceManager.defaultGroup, 'nothing').id;
    expect(await provider.findIdentity(identity)).toBeUndefined();
    expect(
      await provider.findResource(described('/shop').id.replace('/sites/', '/planets/')),
    ).toBeUndefined();
    expect(await provider.findResource('/subscriptions/../x')).toBeUndefined();
  });
});

const principalIds = ({ principalId, clientId }: { principalId: string; clientId: string }) => ({
  principalId,
  clientId,
});

describe('a look-up', () => {
  test('requests one token for all look-ups, however many run at the same time', async () => {
    await Promise.all([provider.findMachine(named('web-1')), provider.findScaleSet(named('agents'))]);
    const [first, ...others] = cloud.calls();
    expect([first, others.sort()]).toEqual(['token', ['VirtualMachineScaleSets_Get', 'VirtualMachines_Get']]);
  });

  test('shares its request with others that run at the same time, and its answer for a short time', async () => {
    const name = named('web-1');
    await Promise.all([provider.findMachine(name), provider.findMachine({ ...name, name: 'WEB-1' })]);
    await provider.findMachine(name);
    expect(cloud.calls()).toEqual(['token', 'VirtualMachines_Get']);
  });

  test('finds a new machine a second after it was missing', async () => {
    expect(await provider.findMachine(named('new'))).toBeUndefined();
    const { resourceManager } = cloud.sandbox;
    resourceManager.addResource(virtualMachine(resourceManager.defaultGroup, 'new', { principal: true }));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await provider.findMachine(named('new'))).toBeDefined();
  });

  test.each(['throttle', 'server-error', 'reset'] as const)(
    'repeats a request that fails once with %s',
    async (effect) => {
      cloud.sandbox.resourceManager.faults.add({ effect, times: 1 });
      cloud.sandbox.directory.faults.add({ effect, times: 1 });
      expect(await provider.findMachine(named('web-1'))).toBeDefined();
      expect(cloud.calls()).toEqual(['token', 'token', 'VirtualMachines_Get', 'VirtualMachines_Get']);
    },
  );

  test.each([
    ['throttle', 'unavailable', "the provider's API is overloaded"],
    ['server-error', 'unavailable', "the provider's API returned status 500"],
    ['reset', 'unavailable', "the provider's API does not respond"],
    ['garbage', 'bad_gateway', "the provider's API returned a response that is not usable"],
    ['redirect', 'bad_gateway', "the provider's API returned status 302 for a request for virtual machines"],
    ['huge', 'bad_gateway', expect.stringContaining('too large')],
    ['refuse-signature', 'bad_gateway', expect.stringContaining('does not accept the access token')],
  ] as const)('fails if the API fails with %s', async (effect, kind, message) => {
    cloud.sandbox.resourceManager.faults.add({ effect });
    expect(await problemOf(provider.findMachine(named('web-1')))).toMatchObject({ kind, message });
  });

  test('fails at once if the API asks to wait for longer than a login may take', async () => {
    cloud.sandbox.resourceManager.faults.add({ effect: 'throttle', retryAfterSeconds: 3_600 });
    const problem = await problemOf(provider.findMachine(named('web-1')));
    expect(problem).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 3_600 });
    expect(cloud.calls()).toEqual(['token', 'VirtualMachines_Get']);
  });

  test('waits as long as the API asks', async () => {
    cloud.sandbox.resourceManager.faults.add({ effect: 'throttle', retryAfterSeconds: 1, times: 1 });
    const begun = performance.now();
    expect(await provider.findMachine(named('web-1'))).toBeDefined();
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  test('is repeated no more often than configured', async () => {
    await cloud.configure({ max_retries: 1 });
    provider = await cloud.replica().provider();
    cloud.sandbox.resourceManager.faults.add({ effect: 'server-error' });
    await problemOf(provider.findMachine(named('web-1')));
    expect(cloud.calls()).toEqual(['token', 'VirtualMachines_Get', 'VirtualMachines_Get']);
  });

  test('names the permission that is missing', async () => {
    const { resourceManager } = cloud.sandbox;
    for (const { id } of resourceManager.roleAssignments()) resourceManager.removeRoleAssignment(id);
    const { oid: principalId } = cloud.sandbox.directory.application;
    const scope = described('/shop').id;
    resourceManager.addRoleAssignment({ principalId, scope });
    const sentence = (what: string, permission: string) => ({
      kind: 'bad_gateway',
      message: `the configured credentials may not read ${what}: they need the permission ${permission}`,
    });
    expect(await problemOf(provider.findMachine(named('web-1')))).toMatchObject(
      sentence('virtual machines', 'Microsoft.Compute/virtualMachines/read'),
    );
    expect(await problemOf(provider.findIdentity(described('/build-agent').id))).toMatchObject(
      sentence('user-assigned identities', 'Microsoft.ManagedIdentity/userAssignedIdentities/read'),
    );
    expect(await provider.findResource(scope)).toBeDefined(); // the permission to read the resource suffices
  });
});

describe('a changed configuration', () => {
  test('applies to the next login on every replica', async () => {
    const other = cloud.replica();
    expect(await (await other.provider()).findMachine(named('web-1'))).toBeDefined();
    await cloud.configure({ client_secret: 'wrong' });
    const problem = await problemOf((await other.provider()).findMachine(named('web-1')));
    expect(problem.message).toContain('the directory refuses the configured client_secret: it is wrong');
  });

  test('that changed nothing for a mount keeps its access token', async () => {
    const replica = cloud.replica();
    await (await replica.provider()).findMachine(named('web-1'));
    cloud.calls();
    await (await replica.provider()).findScaleSet(named('agents'));
    expect(cloud.calls()).toEqual(['VirtualMachineScaleSets_Get']);
  });
});

test('an answer is not used for a resource group that differs in a letter that only looks the same', async () => {
  const group = { ...cloud.sandbox.resourceManager.defaultGroup, resourceGroup: 'kube' };
  cloud.sandbox.resourceManager.addResource(virtualMachine(group, 'web-1'));
  const find = (resourceGroup: string) => provider.findMachine({ ...group, resourceGroup, name: 'web-1' });
  await find('kube');
  await find('KUBE');
  expect(cloud.calls()).toEqual(['token', 'VirtualMachines_Get']);
  await find('\u212aube'); // a Kelvin sign, which `toLowerCase` turns into a k
  expect(cloud.calls()).toEqual(['VirtualMachines_Get']);
});
