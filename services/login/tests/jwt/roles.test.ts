import { describe, expect, test } from '@jest/globals';
import { audience, subject } from './issuer-for-test.ts';
import { needed, useJwt } from './jwt-for-test.ts';

const { jwt, login } = useJwt();
const write = (body: object) => login.call('POST', '/auth/jwt/role/new', body);

describe('a role', () => {
  test('is shown with the defaults of Vault, listed and deleted', async () => {
    await login.call('POST', '/auth/jwt/role/Shown', { ...needed, bound_claims: { a: 'x', b: [1, true] } });
    expect((await login.call('GET', '/auth/jwt/role/shown')).body.data).toEqual({
      role_type: 'jwt',
      bound_audiences: [audience],
      bound_subject: subject,
      bound_claims: { a: ['x'], b: [1, true] },
      bound_claims_type: 'string',
      user_claim: 'sub',
      user_claim_json_pointer: false,
      groups_claim: '',
      claim_mappings: {},
      expiration_leeway: 0,
      not_before_leeway: 0,
      clock_skew_leeway: 0,
      allowed_redirect_uris: [],
      oidc_scopes: [],
      max_age: 0,
      jwt_once: false,
      policies: [],
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: [],
      token_ttl: 0,
      token_type: 'default',
    });
    expect((await login.call('LIST', '/auth/jwt/role')).body.data.keys).toContain('shown');
    expect((await login.call('DELETE', '/auth/jwt/role/SHOWN')).status).toBe(204);
    expect((await login.call('GET', '/auth/jwt/role/shown')).status).toBe(404);
  });

  test('keeps what a write omits, but takes new bound_claims without a type for texts', async () => {
    await jwt.writeRole('kept', { bound_claims: { sub: 'a*' }, bound_claims_type: 'glob', ttl: 60 });
    const shown = async () => (await login.call('GET', '/auth/jwt/role/kept')).body.data;
    await login.call('POST', '/auth/jwt/role/kept', { policies: 'dev' });
    expect(await shown()).toMatchObject({
      bound_claims_type: 'glob',
      token_ttl: 60,
      token_policies: ['dev'],
    });
    await login.call('POST', '/auth/jwt/role/kept', { bound_claims: { sub: 'b*' } });
    expect(await shown()).toMatchObject({ bound_claims: { sub: ['b*'] }, bound_claims_type: 'string' });
  });

  const unbound = /^bound_subject or bound_claims is required/;
  test.each([
    [{ role_type: undefined }, /^allowed_redirect_uris is required with role_type oidc/],
    [{ role_type: 'saml' }, /^role_type: must be jwt or oidc/],
    [{ bound_audiences: undefined }, /^bound_audiences is required/],
    [{ bound_audiences: [] }, /^bound_audiences is required/],
    [{ bound_audiences: '*' }, /^bound_audiences: \* is not an audience/],
    [{ bound_subject: '' }, unbound],
    [{ bound_subject: '*' }, /^bound_subject: \* binds nothing/],
    [{ bound_subject: '', bound_claims: {} }, unbound],
    [{ bound_subject: '', token_bound_cidrs: '10.0.0.0/8' }, unbound],
    [{ bound_subject: '', bound_claims: { iss: 'https://i', aud: audience } }, unbound],
    [{ bound_claims: { repository: '*' } }, /^bound_claims: repository: a value that is \*/],
    [{ bound_claims: { repository: ['a', '*'] } }, /^bound_claims: repository: a value that is \*/],
    [{ bound_claims: { repository: '**' }, bound_claims_type: 'glob' }, /^bound_claims: repository/],
    [{ bound_claims: { sub: '*:*/*' }, bound_claims_type: 'glob' }, /^bound_claims: sub/],
    [{ bound_claims: { id: 7 }, bound_claims_type: 'glob' }, /^bound_claims: values must be strings/],
    [{ bound_claims: { id: 1.5 } }, /^bound_claims: values must be strings, whole numbers/],
    [{ bound_claims: { id: { a: 1 } } }, /^bound_claims: values must be strings/],
    [{ bound_claims: { id: [['a']] } }, /^bound_claims: values must be strings/],
    [{ bound_claims: { id: null } }, /^bound_claims: values must be strings/],
    [{ bound_claims: { id: [] } }, /^bound_claims: must have a value for each claim/],
    [{ bound_claims: { id: '' } }, /^bound_claims: values must not be empty/],
    [{ bound_claims: { '': 'a' } }, /^bound_claims: must name each claim/],
    [{ bound_claims: 'a' }, /^bound_claims: must be a map of claims/],
    [{ bound_claims_type: 'regex' }, /^bound_claims_type: must be string or glob/],
    [{ user_claim: undefined }, /^user_claim is required/],
    [{ user_claim: '' }, /^user_claim/],
    [{ claim_mappings: { a: 'role' } }, /^claim_mappings: role is reserved/],
    [{ claim_mappings: { a: 'x', b: 'x' } }, /^claim_mappings: two claims have the same metadata/],
    [{ clock_skew_leeway: -2 }, /^clock_skew_leeway: must be -1 or a duration of at most 1h/],
    [{ expiration_leeway: '2h' }, /^expiration_leeway: must be -1 or a duration/],
    [{ policies: 'root' }, /^token_policies: a role cannot grant the root policy/],
    [{ token_type: 'batch', token_period: 60 }, /^token_period: a batch token cannot be periodic/],
    [{ bound_cidrs: 'x' }, /CIDRs or addresses/],
    [{ bound_service_principal_ids: 'x' }, /bound_service_principal_ids/],
    [{ allowed_redirect_uris: 'http://a' }, /^allowed_redirect_uris: must be up to 20 URLs/],
  ])('is refused with %j', async (over, sentence) => {
    const { status, body } = await write({ ...needed, ...over });
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
    expect((await login.call('GET', '/auth/jwt/role/new')).status).toBe(404);
  });

  test('of another mount, or of another method, is not found', async () => {
    await login.call('POST', '/sys/auth/second', { type: 'jwt' });
    await login.call('POST', '/sys/auth/cloud', { type: 'cloudB' });
    await login.call('POST', '/auth/cloud/role/web2', { bound_service_principal_ids: 'x' });
    expect((await login.call('GET', '/auth/second/role/web')).status).toBe(404);
    expect((await login.call('GET', '/auth/second/role/web2')).status).toBe(404);
    expect((await login.call('GET', '/auth/jwt/role/web2')).status).toBe(404);
  });
});
