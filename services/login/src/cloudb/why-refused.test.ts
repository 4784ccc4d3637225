import { describe, expect, test } from '@jest/globals';
import { mergedRole, type RoleBody, RoleBody as RoleBodySchema } from './role-settings.ts';
import { whyNotRenewable, whyRefused, whyTooOld } from './why-refused.ts';

const role = (body: RoleBody) =>
  mergedRole({ ...mergedRole(undefined, { bound_locations: ['x'] }), bound_locations: [] }, body);
const principal = { oid: 'aaa', groups: ['g1', 'g2'], groupsOmitted: false };

describe('whyRefused', () => {
  test.each<[string, RoleBody, object, RegExp | undefined]>([
    ['the principal itself', { bound_service_principal_ids: ['aaa'] }, {}, undefined],
    ['the principal in other case', { bound_service_principal_ids: ['AAA'] }, {}, undefined],
    ['another principal', { bound_service_principal_ids: ['bbb'] }, {}, /bound_service_principal_ids/],
    [
      'a principal that only begins alike',
      { bound_service_principal_ids: ['aaaa', 'aa'] },
      {},
      /bound_service_principal_ids/,
    ],
    ['a group', { bound_group_ids: ['G2'] }, {}, undefined],
    ['another group', { bound_group_ids: ['g3'] }, {}, /bound_group_ids/],
    ['no groups', { bound_group_ids: ['g1'] }, { groups: [] }, /bound_group_ids/],
    ['groups left out', { bound_group_ids: ['g1'] }, { groups: [], groupsOmitted: true }, /too many/],
    ['both hold', { bound_service_principal_ids: ['aaa'], bound_group_ids: ['g1'] }, {}, undefined],
    [
      'only the principal holds',
      { bound_service_principal_ids: ['aaa'], bound_group_ids: ['g3'] },
      {},
      /bound_group_ids/,
    ],
    [
      'only the group holds',
      { bound_service_principal_ids: ['b'], bound_group_ids: ['g1'] },
      {},
      /bound_service_principal_ids/,
    ],
    ['the whole tenant', { bound_service_principal_ids: ['*'] }, {}, /lets nobody in/],
    ['the whole tenant by group', { bound_group_ids: ['*'] }, {}, /lets nobody in/],
    [
      'the whole tenant twice',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['*'] },
      {},
      /lets nobody in/,
    ],
    ['anybody of a group', { bound_service_principal_ids: ['*'], bound_group_ids: ['g1'] }, {}, undefined],
    [
      'anybody of another group',
      { bound_service_principal_ids: ['*'], bound_group_ids: ['g3'] },
      {},
      /bound_group_ids/,
    ],
    ['an oid of *', { bound_service_principal_ids: ['*', 'b'] }, { oid: '*' }, /lets nobody in/],
    ['no principal bound', { bound_subscription_ids: ['s'] }, {}, /lets nobody in/],
  ])('%s', (_name, body, over, expected) => {
    const reason = whyRefused(role(body), { ...principal, ...over });
    if (expected === undefined) expect(reason).toBeUndefined();
    else expect(reason).toMatch(expected);
    for (const value of ['bbb', 'g3']) expect(reason ?? '').not.toContain(value);
  });
});

test('max_token_age counts from the issue, and a token without one is too old', () => {
  const now = new Date(1_000_000_000);
  const young = role({ bound_group_ids: ['g'], max_token_age: 300 });
  expect(whyTooOld(young, 1_000_000 - 300, now)).toBeUndefined();
  expect(whyTooOld(young, 1_000_000 - 400, now)).toMatch(/max_token_age/);
  expect(whyTooOld(young, undefined, now)).toMatch(/max_token_age/);
  expect(whyTooOld(role({ bound_group_ids: ['g'] }), undefined, now)).toBeUndefined();
});

test('a renewal holds the old claims against the role as it now is', () => {
  const source = { role: 'r', ...principal };
  expect(whyNotRenewable(role({ bound_group_ids: ['g1'] }), source)).toBeUndefined();
  expect(whyNotRenewable(role({ bound_group_ids: ['g9'] }), source)).toMatch(/bound_group_ids/);
  expect(whyNotRenewable(role({ bound_group_ids: ['g1'], bound_locations: ['w'] }), source)).toMatch(
    /new login/,
  );
  expect(whyNotRenewable(undefined, source)).toMatch(/no longer exists/);
});

describe('a role that cannot be', () => {
  const bound = { bound_group_ids: ['g'] };
  test.each<[Record<string, unknown>, RegExp]>([
    [{}, /must have at least one bound constraint when creating\/updating a role/],
    [{ bound_group_ids: '' }, /at least one bound/],
    [{ ...bound, token_ttl: '2h', token_max_ttl: '1h' }, /token_ttl/],
    [{ ...bound, ttl: '769h' }, /token_ttl/],
    [{ ...bound, token_ttl: '2h', token_explicit_max_ttl: 60 }, /token_ttl/],
    [{ ...bound, token_max_ttl: '800h' }, /token_max_ttl/],
    [{ ...bound, token_type: 'batch', token_period: 60 }, /token_period/],
    [{ ...bound, token_type: 'default-batch', num_uses: 2 }, /token_num_uses/],
    [{ ...bound, policies: 'a,Root' }, /root/],
  ])('%j', (body, expected) => {
    expect(() => mergedRole(undefined, RoleBodySchema.parse(body))).toThrow(expected);
  });

  test.each([
    { token_ttl: -1 },
    { token_type: 'x' },
    { token_num_uses: -1 },
    { token_bound_cidrs: '10.0.0.0/33' },
    { token_bound_cidrs: 'ten' },
  ])('%j does not parse', (body) => {
    expect(RoleBodySchema.safeParse({ ...bound, ...body }).success).toBe(false);
  });

  test('more addresses than a login can be held against do not parse', () => {
    const of = (count: number) => ({ ...bound, token_bound_cidrs: Array<string>(count).fill('10.0.0.1') });
    expect(RoleBodySchema.safeParse(of(100)).success).toBe(true);
    expect(RoleBodySchema.safeParse(of(101)).success).toBe(false);
  });

  test('a partial write keeps the rest; an empty list clears', () => {
    const first = mergedRole(
      undefined,
      RoleBodySchema.parse({ bound_group_ids: 'a, b', policies: 'p', ttl: '1h' }),
    );
    const second = mergedRole(
      first,
      RoleBodySchema.parse({ bound_service_principal_ids: ['x'], bound_group_ids: [] }),
    );
    expect(second).toMatchObject({
      bound_group_ids: [],
      bound_service_principal_ids: ['x'],
      token_policies: ['p'],
      token_ttl: 3_600,
    });
  });
});
