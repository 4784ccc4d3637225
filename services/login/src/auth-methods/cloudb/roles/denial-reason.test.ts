import { describe, expect, test } from '@jest/globals';
import { ageDenialReason, denialReason, renewalDenialReason } from './denial-reason.ts';
import { mergedRole, type RoleBody } from './role-settings.ts';

const role = (body: RoleBody) =>
  mergedRole({ ...mergedRole(undefined, { bound_locations: ['x'] }), bound_locations: [] }, body);
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
    ['does not admit the whole tenant', { bound_service_principal_ids: ['*'] }, {}, /matches no principal/],
    ['does not admit the whole tenant by group', { bound_group_ids: ['*'] }, {}, /matches no principal/],
    [
      'does not admit the whole tenant by both bounds',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['*'] },
      {},
      /matches no principal/,
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
      /matches no principal/,
    ],
    [
      'refuses everybody if it binds no principal',
      { bound_subscription_ids: ['s'] },
      {},
      /matches no principal/,
    ],
  ])('%s', (_rule, body, changed, expected) => {
    const reason = denialReason(role(body), { ...principal, ...changed });
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toMatch(expected);
    for (const value of ['bbb', 'g3']) expect(reason ?? '').not.toContain(value);
  });
});

test('max_token_age counts from iat, and a token without iat is too old', () => {
  const now = new Date(1_000_000_000);
  const bounded = role({ bound_group_ids: ['g'], max_token_age: 300 });
  expect(ageDenialReason(bounded, 1_000_000 - 300, now)).toBeUndefined();
  expect(ageDenialReason(bounded, 1_000_000 - 400, now)).toMatch(/max_token_age/);
  expect(ageDenialReason(bounded, undefined, now)).toMatch(/max_token_age/);
  expect(ageDenialReason(role({ bound_group_ids: ['g'] }), undefined, now)).toBeUndefined();
});

test('a renewal checks the claims of the login against the current role', () => {
  const source = { role: 'r', ...principal };
  expect(renewalDenialReason(role({ bound_group_ids: ['g1'] }), source)).toBeUndefined();
  expect(renewalDenialReason(role({ bound_group_ids: ['g9'] }), source)).toMatch(/bound_group_ids/);
  expect(renewalDenialReason(role({ bound_group_ids: ['g1'], bound_locations: ['w'] }), source)).toMatch(
    /new login/,
  );
  expect(renewalDenialReason(undefined, source)).toMatch(/no longer exists/);
});
