import { describe, expect, test } from '@jest/globals';
import { LoginRequest } from './login-request.ts';

const minimal = { role: 'r', jwt: 'j' };
const subscription = '00000000-1111-2222-3333-444444444444';

describe('the grammar of a login request', () => {
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
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/A.B/c/d\u017f`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/A.B/\u212a/d`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg./providers/A.B/c/d`],
    ['resource_id', `/subscriptions/${'-'.repeat(36)}/resourceGroups/rg/providers/A.B/c/d`],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/A.B${'/c/d'.repeat(9)}`],
    ['vm_name', '\u212aube'],
    ['role', ''],
    ['jwt', ''],
  ])('refuses for %s the value %j', (field, value) => {
    expect(LoginRequest.safeParse({ ...minimal, [field]: value }).success).toBe(false);
  });

  test.each<[string, string]>([
    ['subscription_id', subscription.toUpperCase()],
    ['resource_group_name', 'Rg_1-(x).y'],
    ['vm_name', 'web-1'],
    ['vmss_name', 'aks-pool1-1234-vmss_0'],
    ['resource_id', `/subscriptions/${subscription}/resourceGroups/rg/providers/Microsoft.Web/sites/app-1`],
    ['vm_name', ''],
  ])('accepts for %s the value %j', (field, value) => {
    expect(LoginRequest.safeParse({ ...minimal, [field]: value }).success).toBe(true);
  });
});
