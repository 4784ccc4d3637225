import { expect, test } from '@jest/globals';
import { mergedRole, RoleBody } from './role-settings.ts';
import { roleWarnings } from './role-warnings.ts';

const subscription = 'aaaaaaaa-0000-4000-8000-000000000001';
const warningsOf = (body: object, requirePrincipalBinding = false) =>
  roleWarnings(mergedRole(undefined, RoleBody.parse(body)), { requirePrincipalBinding });

test.each([
  { bound_service_principal_ids: 'p' },
  { bound_group_ids: 'g', bound_resource_groups: 'rg' },
  { bound_group_ids: 'g', bound_locations: 'West US' },
])('a role with %j admits what it says', (body) => {
  expect(warningsOf(body)).toEqual([]);
});

test.each<[object, RegExp[]]>([
  [
    { bound_subscription_ids: subscription, bound_resource_groups: 'rg' },
    [
      /every managed identity .* subscriptions in bound_subscription_ids and .* groups in bound_resource_groups$/,
    ],
  ],
  [{ bound_resource_groups: 'rg' }, [/every managed identity .* in any subscription/]],
  [
    { bound_scale_sets: 'web', bound_locations: 'w' },
    [/every managed identity .*bound_scale_sets and .*bound_locations, in any/],
  ],
  [{ bound_locations: 'westus' }, [/admits nobody/]],
  [{ bound_group_ids: '*' }, [/^bound_group_ids: contains \*/, /admits nobody/]],
  [
    { bound_resource_groups: 'rg,*', bound_locations: 'w' },
    [/^bound_resource_groups: contains \*/, /admits nobody/],
  ],
  [{ bound_group_ids: 'g', bound_locations: '*' }, [/^bound_locations: contains \*/]],
  [
    { bound_group_ids: 'g', bound_subscription_ids: 'my subscription' },
    [/^bound_subscription_ids: .*never matches/],
  ],
  [
    { bound_group_ids: 'g', bound_resource_groups: '/subscriptions/x' },
    [/^bound_resource_groups: .*never matches/],
  ],
  [{ bound_group_ids: 'g', bound_scale_sets: '/subscriptions/x' }, [/^bound_scale_sets: .*never matches/]],
])('the author of a role with %j is warned', (body, expected) => {
  expect(warningsOf(body)).toEqual(expected.map((sentence) => expect.stringMatching(sentence)));
});

test('require_principal_binding makes a role without principals admit nobody', () => {
  expect(warningsOf({ bound_resource_groups: 'rg' }, true)).toEqual([
    expect.stringMatching(/admits nobody: the mount's require_principal_binding/),
  ]);
  expect(warningsOf({ bound_group_ids: 'g', bound_resource_groups: 'rg' }, true)).toEqual([]);
});
