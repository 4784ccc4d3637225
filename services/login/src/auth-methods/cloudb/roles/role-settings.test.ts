import { describe, expect, test } from '@jest/globals';
import { mergedRole, RoleBody } from './role-settings.ts';

describe('a role', () => {
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
  ])('refuses %j', (body, expected) => {
    expect(() => mergedRole(undefined, RoleBody.parse(body))).toThrow(expected);
  });

  test.each([
    { token_ttl: -1 },
    { token_type: 'x' },
    { token_num_uses: -1 },
    { token_bound_cidrs: '10.0.0.0/33' },
    { token_bound_cidrs: 'ten' },
  ])('refuses the field %j', (body) => {
    expect(RoleBody.safeParse({ ...bound, ...body }).success).toBe(false);
  });

  test('has at most 100 bound addresses', () => {
    const withCidrs = (count: number) => ({
      ...bound,
      token_bound_cidrs: Array<string>(count).fill('10.0.0.1'),
    });
    expect(RoleBody.safeParse(withCidrs(100)).success).toBe(true);
    expect(RoleBody.safeParse(withCidrs(101)).success).toBe(false);
  });

  test('keeps omitted fields; an empty list clears a field', () => {
    const first = mergedRole(
      undefined,
      RoleBody.parse({ bound_group_ids: 'a, b', policies: 'p', ttl: '1h' }),
    );
    const second = mergedRole(
      first,
      RoleBody.parse({ bound_service_principal_ids: ['x'], bound_group_ids: [] }),
    );
    expect(second).toMatchObject({
      bound_group_ids: [],
      bound_service_principal_ids: ['x'],
      token_policies: ['p'],
      token_ttl: 3_600,
    });
  });
});
