import { describe, expect, test } from '@jest/globals';
import { LoginRequest, namedMachine } from './login-request.ts';

const minimal = { role: 'r', jwt: 'j' };
const subscription = '00000000-1111-2222-3333-444444444444';

describe('the grammar of what is sent', () => {
  test.each<[string, string]>([
    ['subscription_id', 'me'],
    ['subscription_id', `${subscription}/x`],
    ['resource_group_name', 'a/b'],
    ['resource_group_name', 'ends.'],
    ['resource_group_name', '..'],
    ['resource_group_name', 'a?b'],
    ['resource_group_name', 'a%2fb'],
    ['vm_name', '-a'],
    ['vm_name', '..'],
    ['vm_name', 'a/../b'],
    ['vm_name', 'a b'],
    ['vmss_name', '_a'],
    ['vmss_name', 'a?x'],
    ['resource_id', 'x'],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/../providers/A.B/c/d`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/A.B/c/..`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/A.B/c/d?x=y`],
    ['role', ''],
    ['jwt', ''],
  ])('%s refuses %j', (field, value) => {
    expect(LoginRequest.safeParse({ ...minimal, [field]: value }).success).toBe(false);
  });

  test.each<[string, string]>([
    ['subscription_id', subscription.toUpperCase()],
    ['resource_group_name', 'Rg_1-(x).y'],
    ['vm_name', 'web-1'],
    ['vmss_name', 'aks-pool1-1234-vmss_0'],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/Microsoft.Web/sites/app-1`],
    ['vm_name', ''],
  ])('%s takes %j', (field, value) => {
    expect(LoginRequest.safeParse({ ...minimal, [field]: value }).success).toBe(true);
  });
});

test('the scale set comes before the machine, and what is missing is named', () => {
  const all = LoginRequest.parse({
    ...minimal,
    subscription_id: subscription,
    resource_group_name: 'rg',
    vm_name: 'v',
    vmss_name: 's',
  });
  expect(namedMachine(all)).toMatchObject({ kind: 'scale-set', name: 's' });
  expect(namedMachine({ ...all, vmss_name: undefined })).toMatchObject({
    kind: 'virtual-machine',
    name: 'v',
  });
  expect(() => namedMachine({ ...all, vmss_name: undefined, vm_name: undefined })).toThrow(
    /vm_name, vmss_name or resource_id/,
  );
  expect(() => namedMachine({ ...all, subscription_id: undefined })).toThrow(/subscription_id/);
  expect(() => namedMachine({ ...all, resource_group_name: undefined })).toThrow(/resource_group_name/);
});
