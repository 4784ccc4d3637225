import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestResponse } from '@secrets/http/testing';
import type { RoleSettings } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import type { TokenRoleSettings } from '../../../src/tokens/roles/role-settings.ts';
import { type CloudBWithTable, startCloudBWithTable } from '../decision/cloudb-with-table.ts';
import { machine } from '../decision/row.ts';
import { groupOfEveryone, machineId, systemToken } from '../decision/world.ts';

// A field that no decision reads would be accepted, stored and shown, and restrict nothing.

/** A value of each field with which a login, or a creation of a token, has another outcome than without. */
const roleValues: { [Field in keyof RoleSettings]: RoleSettings[Field] } = {
  bound_service_principal_ids: ['another'],
  bound_group_ids: ['another'],
  bound_subscription_ids: ['another'],
  bound_resource_groups: ['another'],
  bound_locations: ['another'],
  bound_scale_sets: ['another'],
  token_ttl: 60,
  token_max_ttl: 60,
  token_explicit_max_ttl: 60,
  token_period: 60,
  token_policies: ['another'],
  token_bound_cidrs: ['10.9.8.7'],
  token_no_default_policy: true,
  token_num_uses: 5,
  token_type: 'batch',
  max_token_age: 1,
};
const tokenRoleValues: { [Field in keyof TokenRoleSettings]: TokenRoleSettings[Field] } = {
  allowed_policies: ['another'],
  disallowed_policies: ['dev'],
  allowed_policies_glob: ['another*'],
  disallowed_policies_glob: ['de*'],
  orphan: true,
  renewable: false,
  path_suffix: 'another',
  token_bound_cidrs: ['10.9.8.7'],
  token_explicit_max_ttl: 60,
  token_no_default_policy: true,
  token_num_uses: 5,
  token_period: 60,
  token_type: 'batch',
};

let cloudB: CloudBWithTable;
beforeAll(async () => {
  cloudB = await startCloudBWithTable();
});
afterAll(() => cloudB.stop());
const call = (method: string, path: string, body?: object) => cloudB.service.call(method, path, body);

test.each(Object.entries(roleValues))(
  '%s of a role is shown, and decides about a login',
  async (field, value) => {
    const path = `/auth/cloudB/role/${field}`;
    await call('POST', path, { bound_group_ids: groupOfEveryone, token_max_ttl: 3_600 });
    const before = await loginOutcome(field);
    expect(before).toMatchObject({ status: 200 });
    await call('POST', path, { [field]: value });
    expect((await call('GET', path)).body.data[field]).toEqual(value);
    const after = await loginOutcome(field);
    expect(after).not.toEqual(before);
    if (field.startsWith('bound_'))
      expect(after).toMatchObject({ status: 403, errors: [expect.stringContaining(field)] });
  },
);

test.each(Object.entries(tokenRoleValues))(
  '%s of a token role is shown, and decides about a token',
  async (field, value) => {
    const path = `/auth/token/roles/${field}`;
    await call('POST', path, {});
    const create = () => call('POST', `/auth/token/create/${field}`, { policies: 'dev' });
    const before = await outcomeOf(await create());
    expect(before).toMatchObject({ status: 200 });
    await call('POST', path, { [field]: value });
    expect((await call('GET', path)).body.data[field]).toEqual(value);
    expect(await outcomeOf(await create())).not.toEqual(before);
  },
);

/** The JWT is older than the leeway of `max_token_age`. */
async function loginOutcome(role: string) {
  const { hasgroups: _, ...claims } = systemToken(machineId('web-1'));
  const jwt = await cloudB.issueJwt({ ...claims, overrides: { iat: Math.floor(Date.now() / 1_000) - 200 } });
  return outcomeOf(await cloudB.logIn({ role, jwt, ...machine('web-1') }));
}

/** Returns the properties of a token in a response, without those that are unique to each token. */
async function outcomeOf({ status, body }: TestResponse) {
  if (status !== 200) return { status, errors: body.errors };
  const { client_token, accessor, entity_id, lease_duration, metadata: _, ...auth } = body.auth;
  if (accessor === '') return { status, auth };
  const { data } = (await call('POST', '/auth/token/lookup-accessor', { accessor })).body;
  const { period, explicit_max_ttl, num_uses, bound_cidrs, path, orphan, type } = data;
  const attributes = { period, explicit_max_ttl, num_uses, bound_cidrs, path, orphan, type };
  return { status, auth, attributes, minutes: Math.ceil(lease_duration / 60) };
}
