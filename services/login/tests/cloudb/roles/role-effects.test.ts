import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestResponse } from '@secrets/http/testing';
import type { BoundField } from '../../../src/auth-methods/cloudb/roles/bound-fields.ts';
import type { RoleSettings } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import type { TokenRoleSettings } from '../../../src/tokens/roles/role-settings.ts';
import { type CloudBWithTable, startCloudBWithTable } from '../decision/cloudb-with-table.ts';
import { machine, set } from '../decision/row.ts';
import {
  groupOfEveryone,
  machineId,
  shared,
  subscription,
  systemToken,
  userToken,
} from '../decision/world.ts';

// A field that no decision reads would be accepted, stored and shown, and restrict nothing.

/** The values with which a bound is tried. */
interface Binding {
  /** A value that the token and the machine of the test have. */
  admits: string[];
  refuses: string[];
  /** Claims that the token of the test needs for that. */
  claims?: Record<string, unknown>;
}

/** A value of each field with which a login, or a creation of a token, has another outcome than without. */
const bindings: Record<BoundField, Binding> = {
  bound_service_principal_ids: { admits: [shared.principalId], refuses: ['another'] },
  bound_group_ids: { admits: [groupOfEveryone], refuses: ['another'] },
  bound_subscription_ids: { admits: [subscription], refuses: ['another'] },
  bound_resource_groups: { admits: ['rg'], refuses: ['another'] },
  bound_locations: { admits: ['westus'], refuses: ['another'] },
  bound_scale_sets: { admits: ['flex'], refuses: ['another'] },
};
const roleValues: { [Field in Exclude<keyof RoleSettings, BoundField>]: RoleSettings[Field] } = {
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

test.each(Object.entries(bindings))(
  '%s of a role is shown, and admits what has one of its values, at a login and at a renewal',
  async (field, { admits, refuses, claims = {} }) => {
    const path = `/auth/cloudB/role/${field}`;
    const refusal = { status: 403, body: { errors: [expect.stringContaining(field)] } };
    const jwt = await cloudB.issueJwt({ ...userToken(machineId('flex_a1b2c3d4')), overrides: claims });
    const logIn = () => cloudB.logIn({ role: field, jwt, ...set('flex') });
    await call('POST', path, { bound_subscription_ids: subscription });
    expect((await logIn()).status).toBe(200);
    await call('POST', path, { [field]: admits });
    expect((await call('GET', path)).body.data[field]).toEqual(admits);
    const loggedIn = await logIn();
    expect(loggedIn.status).toBe(200);
    const caller = cloudB.service.callerOf(loggedIn);
    const renew = () => cloudB.service.call('POST', '/auth/token/renew-self', {}, caller);
    expect((await renew()).status).toBe(200);
    await call('POST', path, { [field]: refuses });
    expect(await logIn()).toMatchObject(refusal);
    expect(await renew()).toMatchObject(refusal);
  },
);

test.each(Object.entries(roleValues))(
  '%s of a role is shown, and decides about a login',
  async (field, value) => {
    const path = `/auth/cloudB/role/${field}`;
    await call('POST', path, { bound_group_ids: groupOfEveryone, token_max_ttl: 3_600 });
    const before = await loginOutcome(field);
    expect(before).toMatchObject({ status: 200 });
    await call('POST', path, { [field]: value });
    expect((await call('GET', path)).body.data[field]).toEqual(value);
    expect(await loginOutcome(field)).not.toEqual(before);
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
