import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { contentRow, rowGuard } from '@secrets/access';
import { Browser } from '@secrets/testing/browser';
import { anonymous, type LoginForTest, startLoginForTest } from '../../login-for-test.ts';
import {
  clientId,
  clientSecret,
  consoleUri,
  type ProviderForTest,
  redirectUri,
  startProvider,
} from './provider-for-test.ts';

let provider: ProviderForTest;
/** With claims that only its description of the user has; with a client without a secret; one that is to stop. */
let [conforming, withoutSecret, stopping]: ProviderForTest[] = [];
let login: LoginForTest;
const nonce = 'a-nonce-of-the-client';
const usual = { sub: 'ann', claims: { groups: ['operators'], email: 'ann@shop.example' } };

const config = (more: object = {}) => ({
  oidc_discovery_url: provider.url,
  oidc_client_id: clientId,
  oidc_client_secret: clientSecret,
  default_role: 'people',
  ...more,
});
const role = {
  role_type: 'oidc',
  allowed_redirect_uris: redirectUri,
  bound_claims: { groups: ['operators', 'developers'] },
  oidc_scopes: ['profile'],
  user_claim: 'sub',
  groups_claim: 'groups',
  token_policies: 'dev',
};
const configure = (more?: object) => login.call('POST', '/auth/oidc/config', config(more));
const writeRole = (more: object = {}, name = 'people') =>
  login.call('POST', `/auth/oidc/role/${name}`, { ...role, ...more });

beforeAll(async () => {
  const client = {
    client_id: clientId,
    token_endpoint_auth_method: 'none',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'],
  };
  const all = await Promise.all([
    startProvider(),
    startProvider({ conformIdTokenClaims: true }),
    startProvider({ clients: [client] }),
    startProvider(),
  ]);
  [provider, conforming, withoutSecret, stopping] = all;
  for (const one of all) one.user = usual;
  login = await startLoginForTest({ egressAllow: all.map(({ port }) => `127.0.0.1/32:${port}`) });
  await login.call('POST', '/sys/auth/oidc', { type: 'oidc' });
});
beforeEach(async () => {
  provider.user = usual;
  expect((await configure()).body).toBeUndefined();
  await login.call('DELETE', '/auth/oidc/role/people');
  expect((await writeRole()).body).toBeUndefined();
});
afterAll(async () => {
  await login?.stop();
  await Promise.all([provider, conforming, withoutSecret].map((one) => one?.stop()));
});

const authUrl = async (more: object = {}) =>
  login.call(
    'POST',
    '/auth/oidc/oidc/auth_url',
    { redirect_uri: redirectUri, client_nonce: nonce, ...more },
    anonymous,
  );
const begin = async (more?: object): Promise<string> => {
  const { status, body } = await authUrl(more);
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data.auth_url;
};
const complete = (returned: URLSearchParams | Record<string, string>, more: Record<string, string> = {}) => {
  const query = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(returned)),
    client_nonce: nonce,
    ...more,
  });
  return login.call('GET', `/auth/oidc/oidc/callback?${query}`, undefined, anonymous);
};
const signIn = async (browser?: Browser) => complete(await provider.visit(await begin(), browser));

describe('a sign-in', () => {
  test('issues a token for the user, with the policies of the role', async () => {
    const { status, body } = await signIn();
    expect([status, body.errors]).toEqual([200, undefined]);
    expect(body.auth).toMatchObject({ token_policies: ['default', 'dev'], metadata: { role: 'people' } });
    const { data } = (
      await login.call('POST', '/auth/token/lookup-accessor', { accessor: body.auth.accessor })
    ).body;
    expect(data).toMatchObject({ display_name: 'oidc-ann', entity_id: expect.stringMatching(/./) });
  });

  test('asks the provider with PKCE, a nonce and a state, for the scopes of the role', async () => {
    await writeRole({ oidc_scopes: ['email'], max_age: '1h' });
    const { searchParams, origin } = new URL(await begin());
    expect(origin).toBe(provider.url);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email',
      max_age: '3600',
      state: expect.stringMatching(/^[\w-]{100,}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  test('is counted by its outcome', async () => {
    const count = async (outcome: string): Promise<number> => {
      const text = await (await fetch(`${login.url}/metrics`)).text();
      return Number(new RegExp(`^logins_total{.*outcome="${outcome}".*} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const outcomes = () => Promise.all(['issued', 'forbidden', 'invalid'].map(count));
    const before = await outcomes();
    const returned = await provider.visit(await begin());
    expect((await complete(returned)).status).toBe(200);
    expect((await complete(returned)).status).toBe(403);
    expect((await complete({ state: returned.get('state')! })).status).toBe(400);
    expect(await outcomes()).toEqual(before.map((number) => number + 1));
  });

  test('completes without `iss`, which command-line clients do not pass on, also by POST', async () => {
    const { state, code } = Object.fromEntries(await provider.visit(await begin()));
    const body = { state, code, client_nonce: nonce };
    expect((await login.call('POST', '/auth/oidc/oidc/callback', body, anonymous)).status).toBe(200);
  });

  test('reads claims that the ID token lacks from the provider', async () => {
    await configure({ oidc_discovery_url: conforming!.url });
    expect((await complete(await conforming!.visit(await begin()))).status).toBe(200);
  });

  test('reads no other claims from the provider, such as times', async () => {
    conforming!.user = { ...usual, claims: { ...usual.claims, nbf: 4_000_000_000 } };
    await configure({ oidc_discovery_url: conforming!.url });
    const { body } = await complete(await conforming!.visit(await begin()));
    expect(body.errors).toBeUndefined();
    conforming!.user = usual;
  });

  test('is renewed as long as the role admits it', async () => {
    const { client_token: token } = (await signIn()).body.auth;
    const renew = () => login.call('POST', '/auth/token/renew', { token });
    expect((await renew()).status).toBe(200);
    await configure({ oidc_client_id: 'another' });
    expect((await renew()).body.errors).toEqual([expect.stringContaining('was not for the oidc_client_id')]);
  });

  test('without the provider asking the user, if there is a session', async () => {
    const browser = new Browser();
    const silently = async () => provider.visit(`${await begin()}&prompt=none`, browser);
    expect((await complete(await silently())).body.errors).toEqual([
      'the provider refused the sign-in: login_required',
    ]);
    expect((await signIn(browser)).status).toBe(200);
    expect((await complete(await silently())).status).toBe(200);
  });

  test('with a client that has no secret', async () => {
    await configure({ oidc_discovery_url: withoutSecret!.url, oidc_client_secret: '' });
    expect((await complete(await withoutSecret!.visit(await begin()))).status).toBe(200);
  });
});

describe('refuses', () => {
  const refused = async (answer: Awaited<ReturnType<typeof complete>>) => [
    answer.status,
    answer.body.errors[0],
  ];

  test('a user whom the role does not admit, without its values', async () => {
    provider.user = { sub: 'eve', claims: { groups: ['guests'] } };
    const [status, error] = await refused(await signIn());
    expect([status, error]).toEqual([403, expect.stringContaining('groups')]);
    expect(error).not.toMatch(/operators|developers/);
  });

  test('groups that the provider omits because they are too many', async () => {
    provider.user = { sub: 'ann', claims: { department: 'it', _claim_names: { groups: 'src1' } } };
    await login.call('DELETE', '/auth/oidc/role/people');
    await writeRole({ bound_claims: { department: 'it' } });
    expect(await refused(await signIn())).toEqual([403, expect.stringMatching(/groups/)]);
  });

  test('a state that was used', async () => {
    const returned = await provider.visit(await begin());
    expect((await complete(returned)).status).toBe(200);
    expect(await refused(await complete(returned))).toEqual([403, 'state: was used before; begin again']);
  });

  test('a state that another client has begun', async () => {
    const returned = await provider.visit(await begin());
    expect(await refused(await complete(returned, { client_nonce: 'the-nonce-of-another' }))).toEqual([
      403,
      'client_nonce: another client has begun this sign-in',
    ]);
    expect((await complete(returned)).status).toBe(200);
  });

  test('a state of another mount, an altered one, and none', async () => {
    await login.call('POST', '/sys/auth/other', { type: 'oidc' });
    await login.call('POST', '/auth/other/config', config());
    await login.call('POST', '/auth/other/role/people', role);
    const returned = Object.fromEntries(await provider.visit(await begin()));
    const body = { ...returned, client_nonce: nonce };
    const elsewhere = await login.call('POST', '/auth/other/oidc/callback', body, anonymous);
    expect(await refused(elsewhere)).toEqual([403, 'state: was not issued by this auth mount']);
    const { state = '' } = returned;
    for (const altered of [`${state.slice(0, -4)}${state.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`, 'x'])
      expect((await refused(await complete({ ...returned, state: altered })))[0]).toBe(403);
    expect((await complete({ ...returned, state: '' })).status).toBe(400);
  });

  test.each([
    ['the role no longer allows', () => writeRole({ allowed_redirect_uris: [consoleUri] })],
    ['the mount has another client', () => configure({ oidc_client_id: 'another' })],
    ['the mount has another provider', () => configure({ oidc_discovery_url: conforming!.url })],
  ])('a callback if, since the sign-in began, %s', async (_what, change) => {
    const { iss: _, ...returned } = Object.fromEntries(await provider.visit(await begin()));
    await change();
    expect(await refused(await complete(returned))).toEqual([
      403,
      'state: the auth mount or the role has changed since; begin again',
    ]);
  });

  test('a code of another sign-in: PKCE and the nonce are those of the state', async () => {
    const [first, second] = [await provider.visit(await begin()), await provider.visit(await begin())];
    expect(
      await refused(await complete({ ...Object.fromEntries(first), code: second.get('code')! })),
    ).toEqual([403, 'the provider refused the request of this auth mount: invalid_grant']);
  });

  test('an ID token with another nonce, although the code is redeemed', async () => {
    const url = new URL(await begin());
    url.searchParams.set('nonce', 'of-another-sign-in');
    expect(await refused(await complete(await provider.visit(url.href)))).toEqual([
      403,
      expect.stringMatching(/^the response of the provider was refused/),
    ]);
  });

  test('a code that was used, or never issued', async () => {
    const { state, iss } = Object.fromEntries(await provider.visit(await begin()));
    expect((await refused(await complete({ state: state!, iss: iss!, code: 'x' })))[0]).toBe(403);
  });

  test('the response of another issuer', async () => {
    const returned = await provider.visit(await begin());
    expect((await refused(await complete(returned, { iss: 'https://evil.example' })))[0]).toBe(403);
  });

  test('a response without its issuer, unless the redirect URI is that of a command-line client', async () => {
    await writeRole({ allowed_redirect_uris: [consoleUri] });
    const url = await begin({ redirect_uri: consoleUri });
    const visit = () => new Browser().signIn(url, consoleUri);
    const { iss: _, ...returned } = Object.fromEntries(await visit());
    expect(await refused(await complete(returned))).toEqual([
      403,
      'iss: is required, because the provider sends it with each response',
    ]);
    const again = await new Browser().signIn(await begin({ redirect_uri: consoleUri }), consoleUri);
    expect((await complete(again)).status).toBe(200);
  });

  test('an error of the provider, by its code', async () => {
    const { searchParams } = new URL(await begin());
    const state = searchParams.get('state')!;
    expect(await refused(await complete({ state, error: 'access_denied', iss: provider.url }))).toEqual([
      403,
      'the provider refused the sign-in: access_denied',
    ]);
  });

  // The first one: hashicorp/vault-plugin-auth-jwt#72
  test('a login with a JWT through a role for sign-in, and a sign-in through a role for JWTs', async () => {
    const body = { role: 'people', jwt: 'e30.e30.e30' };
    expect(await refused(await login.call('POST', '/auth/oidc/login', body, anonymous))).toEqual([
      400,
      expect.stringMatching(/^role: has the role_type oidc/),
    ]);
    const ofPods = { role_type: 'jwt', bound_audiences: 'x', bound_subject: 'pod', user_claim: 'sub' };
    await login.call('POST', '/auth/oidc/role/pods', ofPods);
    expect(await refused(await authUrl({ role: 'pods' }))).toEqual([
      400,
      expect.stringMatching(/^role: has the role_type jwt/),
    ]);
  });

  test.each([
    [
      { redirect_uri: 'https://evil.example/' },
      "redirect_uri: is not among the role's allowed_redirect_uris",
    ],
    [{ redirect_uri: undefined }, 'redirect_uri is required'],
    [{ client_nonce: 'short' }, expect.stringMatching(/^client_nonce: must have at least 16/)],
    [{ client_nonce: undefined }, 'client_nonce is required'],
    [{ role: 'none' }, 'role: does not exist'],
  ])('to begin with %j', async (body, error) => {
    const answer = await authUrl(body);
    expect([answer.status, answer.body.errors[0]]).toEqual([400, error]);
  });

  test('with a wrong secret of the mount, and without the provider', async () => {
    const returned = await provider.visit(await begin());
    await configure({ oidc_client_secret: 'wrong' });
    expect(await refused(await complete(returned))).toEqual([
      502,
      'the provider does not accept the client_id and secret of this auth mount',
    ]);
    await configure({ oidc_discovery_url: stopping!.url });
    const later = await stopping!.visit(await begin());
    await stopping!.stop();
    expect(await refused(await complete(later))).toEqual([503, 'the provider does not respond']);
  });
});

describe('the configuration', () => {
  test('has a secret that is encrypted and never shown; a write without it removes it', async () => {
    const { data } = (await login.call('GET', '/auth/oidc/config')).body;
    expect(data.oidc_client_id).toBe(clientId);
    expect(JSON.stringify(data)).not.toContain(clientSecret);
    const read = async () =>
      (
        await login.db.query(`select c.sealed_oidc_client_secret as sealed, c.settings
           from login.jwt_configs c join login.auth_mounts m on m.id = c.mount_id where m.path = 'oidc'`)
      )[0] as {
        sealed: Buffer | null;
        settings: object;
      };
    const { sealed, settings } = await read();
    expect(sealed!.length).toBeGreaterThan(clientSecret.length);
    expect(JSON.stringify(settings) + sealed!.toString('latin1')).not.toContain(clientSecret);
    await configure({ oidc_client_secret: undefined });
    expect((await read()).sealed).toBeNull();
  });

  test('of another provider, which a sign-in has not noticed, keeps its secret from the former one', async () => {
    await begin();
    const [row] = await login.db.query<{ id: string; settings: object }>(
      `select c.mount_id as id, c.settings from login.jwt_configs c
         join login.auth_mounts m on m.id = c.mount_id where m.path = 'oidc'`,
    );
    const { id, settings } = row!;
    const next = { ...settings, oidc_discovery_url: conforming!.url };
    const hash = rowGuard(login.rowKeys).hashOf(contentRow('login.jwt_configs', [id], next));
    const statement = 'update login.jwt_configs set settings = $2::jsonb, row_hash = $3 where mount_id = $1';
    await login.db.query(statement, [id, JSON.stringify(next), hash]);
    const answer = await authUrl();
    expect([answer.status, answer.body.errors]).toEqual([
      503,
      ['the configuration of this auth mount is changing; try again'],
    ]);
  });

  test.each([
    [{ oidc_client_id: '', oidc_client_secret: 'x' }, 'oidc_client_secret: needs oidc_client_id'],
    [{ oidc_discovery_url: '', jwks_url: 'https://x.example' }, 'oidc_client_id: needs oidc_discovery_url'],
  ])('is refused with %j', async (body, error) => {
    const answer = await configure({ ...body, skip_jwks_validation: true });
    expect([answer.status, answer.body.errors[0]]).toEqual([400, error]);
  });
});

describe('a role', () => {
  afterEach(() => login.call('DELETE', '/auth/oidc/role/new'));

  test.each([
    [{ allowed_redirect_uris: [] }, /^allowed_redirect_uris is required with role_type oidc/],
    [
      { allowed_redirect_uris: ['http://secrets.example/x'] },
      /^allowed_redirect_uris: must be up to 20 URLs/,
    ],
    [
      { allowed_redirect_uris: ['https://secrets.example/x#y'] },
      /^allowed_redirect_uris: must be up to 20 URLs/,
    ],
    [{ oidc_scopes: ['a b'] }, /^oidc_scopes: must be up to 50 scopes/],
    [{ bound_claims: {} }, /^bound_subject or bound_claims is required/],
  ])('is refused with %j', async (body, error) => {
    const answer = await writeRole(body, 'new');
    expect([answer.status, answer.body.errors[0]]).toEqual([400, expect.stringMatching(error)]);
  });
});
