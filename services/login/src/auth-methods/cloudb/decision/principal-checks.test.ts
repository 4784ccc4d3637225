import { describe, expect, test } from '@jest/globals';
import { addressChecks } from '../../roles/address-checks.ts';
import type { Check } from '../../roles/check.ts';
import { mergedRole, type RoleBody } from '../roles/role-settings.ts';
import { ageChecks, principalChecks } from './principal-checks.ts';

const role = (body: RoleBody) =>
  mergedRole({ ...mergedRole(undefined, { bound_locations: ['x'] }), bound_locations: [] }, body);
const reasonOf = (checks: readonly Check[]) => checks.find(({ passed }) => !passed)?.reason;
const principal = { oid: 'aaa', groups: ['g1', 'g2'], groupsOmitted: false };

describe('a role', () => {
  test.each<[string, RoleBody, object, RegExp | undefined]>([
    ['admits a bound principal', { bound_service_principal_ids: ['aaa'] }, {}, undefined],
    ['compares principals without regard to case', { bound_service_principal_ids: ['AAA'] }, {}, undefined],
    [
      'refuses another principal',
      { bound_service_principal_ids: ['bbb'] },
      {},
      /bound_service_principal_ids/,
    ],
    [
      'refuses a principal with the same prefix',
      { bound_service_principal_ids: ['aaaa', 'aa'] },
      {},
      /bound_service_principal_ids/,
    ],
    ['admits a member of a bound group', { bound_group_ids: ['G2'] }, {}, undefined],
    ['refuses a member of another group', { bound_group_ids: ['g3'] }, {}, /bound_group_ids/],
    ['refuses a principal without groups', { bound_group_ids: ['g1'] }, { groups: [] }, /bound_group_ids/],
    [
      'refuses a token that omits its groups',
      { bound_group_ids: ['g1'] },
      { groups: [], groupsOmitted: true },
      /too many/,
    ],
    [
      'admits a principal if both bounds match',
      { bound_service_principal_ids: ['aaa'], bound_group_ids: ['g1'] },
      {},
      undefined,
    ],
    [
      'refuses a principal if only the first bound matches',
      { bound_service_principal_ids: ['aaa'], bound_group_ids: ['g3'] },
      {},
      /bound_group_ids/,
    ],
    [
      'refuses a principal if only the second bound matches',
      { bound_service_principal_ids: ['b'], bound_group_ids: ['g1'] },
      {},
      /bound_service_principal_ids/,
    ],
    ['does not admit the whole tenant', { bound_service_principal_ids: ['*'] }, {}, /admits nobody/],
    ['does not admit the whole tenant by group', { bound_group_ids: ['*'] }, {}, /admits nobody/],
    [
      'does not admit the whole tenant by both bounds',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['*'] },
      {},
      /admits nobody/,
    ],
    [
      'admits any member of a group',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['g1'] },
      {},
      undefined,
    ],
    [
      'refuses members of other groups',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['g3'] },
      {},
      /bound_group_ids/,
    ],
    [
      'does not treat * as an oid',
      { bound_service_principal_ids: ['*', 'b'] },
      { oid: '*' },
      /admits nobody/,
    ],
    ['leaves a subscription to other checks', { bound_subscription_ids: ['s'] }, {}, undefined],
    ['refuses everybody if it binds only a location', { bound_locations: ['w'] }, {}, /admits nobody/],
  ])('%s', (_rule, body, changed, expected) => {
    const checks = principalChecks(
      role(body),
      { ...principal, ...changed },
      { requirePrincipalBinding: false },
    );
    const reason = reasonOf(checks);
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toMatch(expected);
    for (const value of ['bbb', 'g3']) expect(reason ?? '').not.toContain(value);
  });
});

test('max_token_age counts from iat, and a token without iat is too old', () => {
  const now = new Date(1_000_000_000);
  const bounded = role({ bound_group_ids: ['g'], max_token_age: 300 });
  expect(reasonOf(ageChecks(bounded, 1_000_000 - 300, now))).toBeUndefined();
  expect(reasonOf(ageChecks(bounded, 1_000_000 - 400, now))).toMatch(/max_token_age/);
  expect(reasonOf(ageChecks(bounded, undefined, now))).toMatch(/max_token_age/);
  expect(reasonOf(ageChecks(role({ bound_group_ids: ['g'] }), undefined, now))).toBeUndefined();
});

test('max_token_age refuses a token whose iat lies in the future, beyond the leeway', () => {
  const now = new Date(1_000_000_000);
  const bounded = role({ bound_group_ids: ['g'], max_token_age: 300 });
  expect(reasonOf(ageChecks(bounded, 1_000_000 + 60, now))).toBeUndefined();
  expect(reasonOf(ageChecks(bounded, 1_000_000 + 61, now))).toMatch(/iat lies in the future/);
  expect(reasonOf(ageChecks(role({ bound_group_ids: ['g'] }), 1_000_000 + 61, now))).toBeUndefined();
});

test.each([
  [{ bound_service_principal_ids: ['aaa'] }, undefined],
  [{ bound_group_ids: ['g1'], bound_subscription_ids: ['s'] }, undefined],
  [{ bound_subscription_ids: ['s'] }, /require_principal_binding/],
  [{ bound_subscription_ids: ['s'], bound_group_ids: ['*'] }, /require_principal_binding/],
])('require_principal_binding accepts %j: %s', (body, expected) => {
  const reason = reasonOf(principalChecks(role(body), principal, { requirePrincipalBinding: true }));
  if (expected === undefined) expect(reason).toBeUndefined();
  else expect(reason).toMatch(expected);
});

test('token_bound_cidrs contain the address of the caller', () => {
  const near = { token_bound_cidrs: ['10.0.0.0/8'] };
  expect(reasonOf(addressChecks(near, '10.1.2.3'))).toBeUndefined();
  expect(reasonOf(addressChecks(near, '11.1.2.3'))).toMatch(/token_bound_cidrs/);
  expect(addressChecks({ token_bound_cidrs: [] }, '11.1.2.3')).toEqual([]);
});

test('1,000 groups and 1,000 bound groups are compared within 50 ms', () => {
  const names = (prefix: string) =>
    Array.from({ length: 1_000 }, (_, n) => `${prefix}-${n}-0000-4000-8000-000000000001`);
  const bounds = role({ bound_group_ids: names('a') });
  const others = { ...principal, groups: names('b') };
  const runs = Array.from({ length: 20 }, () => {
    const begun = performance.now();
    const checks = principalChecks(bounds, others, { requirePrincipalBinding: false });
    const ms = performance.now() - begun;
    expect(reasonOf(checks)).toMatch(/bound_group_ids/);
    return ms;
  });
  expect(Math.min(...runs)).toBeLessThan(50); // others may have been interrupted
});
