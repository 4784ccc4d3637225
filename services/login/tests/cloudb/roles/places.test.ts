import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type CloudBWithTable, startCloudBWithTable } from '../decision/cloudb-with-table.ts';
import { machine, other, set } from '../decision/row.ts';
import {
  groupOfEveryone,
  machineId,
  setId,
  siteId,
  subscription,
  systemToken,
  userToken,
} from '../decision/world.ts';

const web1 = systemToken(machineId('web-1'));
const inRg = { bound_subscription_ids: subscription, bound_resource_groups: 'rg' };
let cloudB: CloudBWithTable;

beforeAll(async () => {
  cloudB = await startCloudBWithTable();
  await cloudB.writeRole('placed', { ...inRg, policies: 'dev' });
});
afterEach(() => cloudB.sandbox.resourceManager.faults.clear());
afterAll(() => cloudB.stop());

/** Drops what is cached of the provider. */
const forget = () => cloudB.configure();

describe('the metadata of a token', () => {
  test.each([
    ['a machine', web1, machine('WEB-1'), { vm_name: 'web-1' }],
    ['a uniform set', userToken(setId('agents')), set('agents'), { vmss_name: 'agents' }],
    [
      'a flexible set',
      userToken(machineId('flex_a1b2c3d4')),
      set('flex'),
      { vmss_name: 'flex', vm_name: 'flex_a1b2c3d4' },
    ],
    ['another resource', systemToken(siteId), other(siteId), { resource_id: siteId }],
  ])('name %s as it was proven', async (_kind, token, request, names) => {
    const { auth } = (await cloudB.logInFrom(token, { role: 'placed', ...request })).body;
    expect(auth.policies).toEqual(['default', 'dev']);
    expect(auth.metadata).toEqual({
      role: 'placed',
      subscription_id: subscription,
      resource_group_name: 'rg',
      ...names,
    });
  });

  test('name no place if the role binds none', async () => {
    await cloudB.writeRole('unplaced', { bound_group_ids: groupOfEveryone });
    const { auth } = (await cloudB.logInFrom(web1, { role: 'unplaced', ...machine('web-1') })).body;
    expect(auth.metadata).toEqual({ role: 'unplaced' });
  });
});

describe('the provider', () => {
  const calls = () => cloudB.sandbox.resourceManager.calls().length;
  const logIn = () => cloudB.logInFrom(web1, { role: 'placed', ...machine('web-1') });

  test('is not called for a role that binds principals and groups alone', async () => {
    await cloudB.writeRole('principals', {
      bound_service_principal_ids: web1.oid,
      bound_group_ids: groupOfEveryone,
    });
    const before = calls();
    expect((await cloudB.logInFrom(web1, { role: 'principals', ...machine('web-1') })).status).toBe(200);
    expect(calls() - before).toBe(0);
  });

  test('is not called for a token of another machine, nor for a place that the role does not bind', async () => {
    await forget();
    const before = calls();
    const stranger = systemToken(machineId('web-10'));
    expect((await cloudB.logInFrom(stranger, { role: 'placed', ...machine('web-1') })).status).toBe(403);
    const elsewhere = { ...machine('web-1'), resource_group_name: 'rg-prod' };
    const outside = systemToken(machineId('web-1', 'rg-prod'));
    expect((await cloudB.logInFrom(outside, { role: 'placed', ...elsewhere })).status).toBe(403);
    expect(calls() - before).toBe(0);
  });

  test.each([
    ['server-error', 503],
    ['reset', 503],
    ['garbage', 502],
  ] as const)('that fails with %s lets nobody in', async (effect, status) => {
    await forget();
    cloudB.sandbox.resourceManager.faults.add({ effect });
    expect((await logIn()).status).toBe(status);
    cloudB.sandbox.resourceManager.faults.clear();
    expect((await logIn()).status).toBe(200);
  });

  test('that does not let the credentials read a machine lets nobody in', async () => {
    const { resourceManager } = cloudB.sandbox;
    const assignments = resourceManager.roleAssignments();
    for (const { id } of assignments) resourceManager.removeRoleAssignment(id);
    await forget();
    expect((await logIn()).status).toBe(502);
    for (const { id: _id, ...assignment } of assignments) resourceManager.addRoleAssignment(assignment);
    await forget();
    expect((await logIn()).status).toBe(200);
  });

  test('need not let the credentials read the machines of a flexible set, of which it then proves less', async () => {
    const { resourceManager, directory } = cloudB.sandbox;
    const assignments = resourceManager.roleAssignments();
    for (const { id } of assignments) resourceManager.removeRoleAssignment(id);
    resourceManager.addRoleAssignment({
      principalId: directory.application.oid,
      scope: `/subscriptions/${subscription}`,
      actions: [
        'Microsoft.Compute/virtualMachineScaleSets/*/read',
        'Microsoft.Compute/virtualMachineScaleSets/read',
        'Microsoft.ManagedIdentity/userAssignedIdentities/read',
      ],
    });
    await forget();
    await cloudB.writeRole('flexible', { bound_scale_sets: 'flex' });
    const token = userToken(machineId('flex_a1b2c3d4'));
    const response = await cloudB.logInFrom(token, { role: 'flexible', ...set('flex') });
    expect(response.body.auth.metadata).toEqual({
      role: 'flexible',
      subscription_id: subscription,
      resource_group_name: 'rg',
      vm_name: 'flex_a1b2c3d4',
    });
    const renew = () =>
      cloudB.service.call('POST', '/auth/token/renew-self', {}, cloudB.service.callerOf(response));
    expect((await renew()).status).toBe(200);
    await cloudB.writeRole('flexible', { bound_locations: 'westus' });
    expect((await renew()).status).toBe(403);
    expect(await cloudB.logInFrom(token, { role: 'flexible', ...set('flex') })).toMatchObject({
      status: 502,
      body: { errors: [expect.stringMatching(/the permission Microsoft.Compute\/virtualMachines\/read$/)] },
    });
    for (const { id } of resourceManager.roleAssignments()) resourceManager.removeRoleAssignment(id);
    for (const { id: _id, ...assignment } of assignments) resourceManager.addRoleAssignment(assignment);
    await forget();
  });
});

describe('a renewal', () => {
  const renewOf = async (role: string) => {
    const response = await cloudB.logInFrom(web1, { role, ...machine('web-1') });
    const caller = cloudB.service.callerOf(response);
    return () => cloudB.service.call('POST', '/auth/token/renew-self', {}, caller);
  };

  test.each([
    ['bound_subscription_ids', { bound_subscription_ids: 'bbbbbbbb-0000-4000-8000-000000000002' }],
    ['bound_resource_groups', { bound_resource_groups: 'rg-prod' }],
    ['bound_locations', { bound_locations: 'eastus' }],
    ['bound_scale_sets', { bound_scale_sets: 'web-1' }],
    ['bound_group_ids', { bound_group_ids: subscription }],
  ])('is refused after a change of %s that the login would not pass', async (field, change) => {
    const role = `changed-${field.replaceAll('_', '-')}`;
    await cloudB.writeRole(role, inRg);
    const renew = await renewOf(role);
    expect((await renew()).status).toBe(200);
    await cloudB.writeRole(role, change);
    expect(await renew()).toMatchObject({ status: 403, body: { errors: [expect.stringContaining(field)] } });
    await cloudB.writeRole(role, { ...inRg, [field]: [], ...(field in inRg ? inRg : {}) });
    expect((await renew()).status).toBe(200);
  });

  test('calls neither the directory nor the provider', async () => {
    const renew = await renewOf('placed');
    const { directory, resourceManager } = cloudB.sandbox;
    const before = directory.calls().length + resourceManager.calls().length;
    expect((await renew()).status).toBe(200);
    expect(directory.calls().length + resourceManager.calls().length).toBe(before);
  });

  test('is refused while require_principal_binding demands more of the role', async () => {
    const renew = await renewOf('placed');
    await cloudB.configure({ require_principal_binding: true });
    expect((await renew()).status).toBe(403);
    expect((await cloudB.logInFrom(web1, { role: 'placed', ...machine('web-1') })).status).toBe(403);
    await cloudB.configure({ require_principal_binding: false });
    expect((await renew()).status).toBe(200);
  });
});
