import { expect, test } from '@jest/globals';
import type { JwtRole } from '../../src/auth-methods/jwt/roles/role-fields.ts';
import { audience, secondsNow, subject } from './issuer-for-test.ts';
import { useJwt } from './jwt-for-test.ts';

// A field that no decision reads would be accepted, stored and shown, and restrict nothing.

const { jwt, login, issuer } = useJwt();

/** A value of a field with which a login has another outcome than without, and the fields that it needs for that. */
interface Effect<Value> {
  value: Value;
  with?: Record<string, unknown>;
  /** Claims of the token, besides the usual ones. */
  claims?: Record<string, unknown>;
}

const past = secondsNow() - 30;
/** Those of sign-in with a browser are tested with that. */
type OfSignIn = 'role_type' | 'allowed_redirect_uris' | 'oidc_scopes';

const values: { [Field in keyof Omit<JwtRole, OfSignIn>]: Effect<JwtRole[Field]> } = {
  bound_audiences: { value: ['https://other.example'] },
  bound_subject: { value: 'another' },
  bound_claims: { value: { repository: ['another'] } },
  bound_claims_type: { value: 'glob', with: { bound_claims: { repository: 'acme/sh*' } } },
  user_claim: { value: 'repository' },
  user_claim_json_pointer: { value: true, with: { user_claim: '/a' }, claims: { '/a': 'x', a: 'y' } },
  groups_claim: { value: 'groups' },
  claim_mappings: { value: { repository: 'repository' } },
  expiration_leeway: { value: -1, claims: { exp: past } },
  not_before_leeway: { value: -1, claims: { nbf: secondsNow() + 50 } },
  clock_skew_leeway: { value: -1, claims: { exp: past } },
  max_age: { value: 10, claims: { iat: secondsNow() - 300 } },
  jwt_once: { value: true },
  token_ttl: { value: 60 },
  token_max_ttl: { value: 60 },
  token_explicit_max_ttl: { value: 60 },
  token_period: { value: 60 },
  token_policies: { value: ['another'] },
  token_bound_cidrs: { value: ['10.9.8.7'] },
  token_no_default_policy: { value: true },
  token_num_uses: { value: 5 },
  token_type: { value: 'batch' },
};

test.each(Object.entries(values))(
  '%s of a role is shown, and decides about a login',
  async (field, effect) => {
    const path = `/auth/jwt/role/${field}`;
    await jwt.writeRole(field, { bound_subject: subject, bound_audiences: audience, ...effect.with });
    const token = await issuer.sign(effect.claims);
    const before = await outcomeOf(token, field);
    await login.call('POST', path, { [field]: effect.value });
    expect((await login.call('GET', path)).body.data[field]).toEqual(effect.value);
    expect(await outcomeOf(token, field)).not.toEqual(before);
  },
);

/** Returns the properties of a token in a response, without those that are unique to each token. */
async function outcomeOf(token: string, role: string) {
  const { status, body } = await jwt.logIn(token, role);
  if (status !== 200) return { status, errors: body.errors };
  const { client_token: _token, accessor, lease_duration, ...auth } = body.auth;
  if (accessor === '') return { status, auth };
  const { data } = (await login.call('POST', '/auth/token/lookup-accessor', { accessor })).body;
  const { period, explicit_max_ttl, num_uses, bound_cidrs, type, display_name } = data;
  const attributes = { period, explicit_max_ttl, num_uses, bound_cidrs, type, display_name };
  return { status, auth, attributes, minutes: Math.ceil(lease_duration / 60) };
}
