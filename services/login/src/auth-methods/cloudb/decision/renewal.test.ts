import { expect, test } from '@jest/globals';
import { mergedRole, RoleBody } from '../roles/role-settings.ts';
import { renewalDenialReason } from './renewal.ts';

const place = {
  subscriptionId: 's',
  resourceGroup: 'rg',
  machine: 'web_a1',
  scaleSet: 'web',
  location: 'West US',
};
const principal = { oid: 'aaa', groups: ['g1'], groupsOmitted: false };
const config = { tenant_id: 't', resource: 'r/', environment: 'public' } as const;
const remoteAddress = '127.0.0.1';
const reasonFor = (body: RoleBody, proof: object = { place }, require_principal_binding = false) =>
  renewalDenialReason(
    {
      role: mergedRole(undefined, RoleBody.parse(body)),
      config: { ...config, require_principal_binding },
      remoteAddress,
    },
    { ...principal, ...proof },
  );

test.each<[RoleBody]>([
  [{ bound_group_ids: ['G1'] }],
  [{ bound_service_principal_ids: ['AAA'], bound_resource_groups: ['*'] }],
  [{ bound_subscription_ids: ['S'], bound_resource_groups: ['RG', 'x'] }],
  [{ bound_scale_sets: ['WEB'], bound_locations: ['westus'] }],
])('a token is renewed while its role has %j', (body) => {
  expect(reasonFor(body)).toBeUndefined();
});

test.each<[RoleBody, RegExp]>([
  [{ bound_group_ids: ['g2'] }, /bound_group_ids/],
  [{ bound_service_principal_ids: ['aa'] }, /bound_service_principal_ids/],
  [{ bound_subscription_ids: ['s2'] }, /bound_subscription_ids/],
  [{ bound_resource_groups: ['rg-prod'] }, /bound_resource_groups/],
  [{ bound_scale_sets: ['web-2'] }, /bound_scale_sets/],
  [{ bound_subscription_ids: ['s'], bound_locations: ['westus2'] }, /bound_locations/],
  [{ bound_resource_groups: ['*'] }, /admits nobody/],
  [{ bound_locations: ['westus'] }, /admits nobody/],
])('a token is not renewed after its role was changed to %j', (body, reason) => {
  expect(reasonFor(body)).toMatch(reason);
});

test('a role that binds a place after the login does not renew a token that proved none', () => {
  expect(reasonFor({ bound_group_ids: ['g1'], bound_resource_groups: ['rg'] }, {})).toMatch(/new login/);
  expect(reasonFor({ bound_group_ids: ['g1'], bound_resource_groups: ['*'] }, {})).toBeUndefined();
});

test('a machine outside of a scale set is not renewed by a role that binds one', () => {
  const { scaleSet, ...alone } = place;
  expect(reasonFor({ bound_scale_sets: ['web'] }, { place: alone })).toMatch(/bound_scale_sets/);
});

test('a machine that could not be read is renewed by the name of its scale set, and has no location', () => {
  const { scaleSet, location, ...read } = place;
  const proof = { place: { ...read, presumedScaleSet: 'web' } };
  expect(reasonFor({ bound_scale_sets: ['web'] }, proof)).toBeUndefined();
  expect(reasonFor({ bound_scale_sets: ['web-2'] }, proof)).toMatch(/bound_scale_sets/);
  expect(reasonFor({ bound_scale_sets: ['web'], bound_locations: ['westus'] }, proof)).toMatch(
    /bound_locations/,
  );
});

test('require_principal_binding applies to renewals', () => {
  expect(reasonFor({ bound_resource_groups: ['rg'] }, { place }, true)).toMatch(/require_principal_binding/);
  expect(reasonFor({ bound_group_ids: ['g1'] }, { place }, true)).toBeUndefined();
});

test('a token is not renewed after its role or configuration was deleted', () => {
  const role = mergedRole(undefined, { bound_group_ids: ['g1'] });
  expect(renewalDenialReason({ role: null, config, remoteAddress }, principal)).toMatch(/no longer exists/);
  expect(renewalDenialReason({ role, config: null, remoteAddress }, principal)).toMatch(/not configured/);
});

test('a token is renewed while the mount accepts the same tokens as at the login', () => {
  const body = { bound_group_ids: ['g1'] };
  const reason = (accepted: object | undefined) => reasonFor(body, { accepted });
  expect(reason({ ...config, tenant_id: 'T', resource: 'r' })).toBeUndefined();
  expect(reason({ ...config, tenant_id: 't2' })).toMatch(/no longer accepts/);
  expect(reason({ ...config, resource: 'r2' })).toMatch(/no longer accepts/);
  expect(reason({ ...config, environment: 'china' })).toMatch(/no longer accepts/);
  expect(reason(undefined)).toBeUndefined(); // of a login from before this was stored
});
