import { expect, test } from '@jest/globals';
import type { KubernetesRole } from '../../src/auth-methods/kubernetes/roles/role-fields.ts';
import { useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login } = useKubernetes();

/** A value of a field with which a login has another outcome than without. */
const values: { [Field in keyof KubernetesRole]: KubernetesRole[Field] } = {
  bound_service_account_names: ['api'],
  bound_service_account_namespaces: ['other'],
  audience: 'https://other.example',
  alias_name_source: 'serviceaccount_name',
  token_ttl: 60,
  token_max_ttl: 60,
  token_explicit_max_ttl: 60,
  token_period: 60,
  token_policies: ['another'],
  token_bound_cidrs: ['10.9.8.7'],
  token_no_default_policy: true,
  token_num_uses: 5,
  token_type: 'batch',
};

// A field that no decision reads would be accepted, stored and shown, and restrict nothing.
test.each(Object.entries(values))(
  '%s of a role is shown, and decides about a login',
  async (field, value) => {
    const path = `/auth/kubernetes/role/${field}`;
    await kubernetes.writeRole(field);
    const before = await outcomeOf(field);
    await login.call('POST', path, { [field]: value });
    expect((await login.call('GET', path)).body.data[field]).toEqual(value);
    expect(await outcomeOf(field)).not.toEqual(before);
  },
);

/** Returns the properties of a token in a response, without those that are unique to each token. */
async function outcomeOf(role: string) {
  const { status, body } = await kubernetes.logInAs({}, role);
  if (status !== 200) return { status, errors: body.errors };
  const { client_token: _token, accessor, lease_duration, ...auth } = body.auth;
  if (accessor === '') return { status, auth };
  const { data } = (await login.call('POST', '/auth/token/lookup-accessor', { accessor })).body;
  const { period, explicit_max_ttl, num_uses, bound_cidrs, type } = data;
  return {
    status,
    auth,
    attributes: { period, explicit_max_ttl, num_uses, bound_cidrs, type },
    minutes: Math.ceil(lease_duration / 60),
  };
}
