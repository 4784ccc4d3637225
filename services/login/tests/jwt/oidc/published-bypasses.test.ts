import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, type LoginForTest, startLoginForTest } from '../../login-for-test.ts';
import {
  clientId,
  clientSecret,
  type ProviderForTest,
  redirectUri,
  startProvider,
} from './provider-for-test.ts';

// Published bypasses of sign-in with a browser.
let provider: ProviderForTest;
let login: LoginForTest;
const nonce = 'a-nonce-of-the-client';
const role = {
  role_type: 'oidc',
  allowed_redirect_uris: [redirectUri, 'http://localhost:8250/oidc/callback'],
  bound_claims: { groups: ['operators'] },
  user_claim: 'sub',
};

beforeAll(async () => {
  provider = await startProvider();
  provider.user = { sub: 'ann', claims: { groups: ['operators'] } };
  login = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${provider.port}`] });
  await login.call('POST', '/sys/auth/oidc', { type: 'oidc' });
  await login.call('POST', '/auth/oidc/config', {
    oidc_discovery_url: provider.url,
    oidc_client_id: clientId,
    oidc_client_secret: clientSecret,
    default_role: 'people',
  });
  expect((await login.call('POST', '/auth/oidc/role/people', role)).status).toBe(204);
});
afterAll(async () => {
  await login?.stop();
  await provider?.stop();
});

const authUrl = (body: object) => login.call('POST', '/auth/oidc/oidc/auth_url', body, anonymous);
const callback = (query: Record<string, string>) =>
  login.call('GET', `/auth/oidc/oidc/callback?${new URLSearchParams(query)}`, undefined, anonymous);
const begin = async (): Promise<string> =>
  (await authUrl({ redirect_uri: redirectUri, client_nonce: nonce })).body.data.auth_url;

describe('a sign-in that somebody else has begun cannot be completed (GHSA-7q7g-x6vg-xpc3)', () => {
  test.each(['direct', 'device'])(
    'there is no callback_mode %s, with which a client polls for a token',
    async (mode) => {
      const { status, body } = await login.call('POST', '/auth/oidc/role/polled', {
        ...role,
        callback_mode: mode,
      });
      expect([status, body.warnings]).toEqual([200, [expect.stringContaining('callback_mode')]]);
      expect((await login.call('GET', '/auth/oidc/role/polled')).body.data.callback_mode).toBeUndefined();
    },
  );

  test('there is nothing to poll, and the state is only good with the nonce of its client', async () => {
    expect((await login.call('POST', '/auth/oidc/oidc/poll', { state: 'x' }, anonymous)).status).toBe(404);
    const returned = Object.fromEntries(await provider.visit(await begin()));
    expect((await callback({ ...returned, client_nonce: 'the-nonce-of-another' })).status).toBe(403);
    expect((await callback(returned)).status).toBe(400);
  });
});

test('a callback repeats nothing of what the browser brings (CVE-2026-33758, GHSA-cpj3-3r2f-xj59)', async () => {
  const script = '<script>alert(1)</script>';
  const state = new URL(await begin()).searchParams.get('state')!;
  const error = { error: script, error_description: script, error_uri: `javascript:${script}` };
  for (const query of [
    { ...error, state, iss: provider.url, client_nonce: nonce },
    { ...error, error: 'access_denied', state, iss: provider.url, client_nonce: nonce },
    { state: script, code: script, client_nonce: nonce },
    { state: script, code: script, client_nonce: script },
  ]) {
    const { status, body } = await callback(query);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(body)).not.toContain('script');
  }
});

describe('a redirect URI that is not one of the role is refused, however it resembles one', () => {
  const { host, origin, pathname } = new URL(redirectUri);
  test.each([
    ['another host after the user', `https://${host}@evil.example${pathname}`],
    ['another host after a backslash', `https://evil.example\\@${host}${pathname}`],
    ['a longer host', `https://${host}.evil.example${pathname}`],
    ['another path', `${origin}${pathname}/../evil`],
    ['an encoded path', `${origin}${pathname}%2f..%2fevil`],
    ['a query', `${redirectUri}?next=https://evil.example`],
    ['a fragment', `${redirectUri}#x`],
    ['capitals', redirectUri.toUpperCase()],
    ['a blank', `${redirectUri} `],
    ['another scheme', redirectUri.replace(/^https?/, 'javascript')],
    ['another host with the loopback as user', 'http://localhost:8250@evil.example/oidc/callback'],
    ['a host that begins as the loopback', 'http://localhost.evil.example:8250/oidc/callback'],
    ['another path on the loopback', 'http://localhost:8250/evil'],
    ['a list', [redirectUri]],
  ])('%s', async (_what, uri) => {
    const { status } = await authUrl({ redirect_uri: uri, client_nonce: nonce });
    expect(status).toBe(400);
  });
});
