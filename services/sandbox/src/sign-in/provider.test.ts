import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Browser } from '@secrets/testing/browser';
import * as oidc from 'openid-client';
import { type Sandbox, startSandbox } from '../sandbox.ts';

let sandbox: Sandbox;
let config: oidc.Configuration;
const redirectUri = 'http://127.0.0.1:52000/ui/signed-in';

beforeAll(async () => {
  sandbox = await startSandbox();
  config = await oidc.discovery(
    new URL(sandbox.signIn.issuer),
    sandbox.signIn.clientId,
    undefined,
    oidc.None(),
    {
      execute: [oidc.allowInsecureRequests],
    },
  );
});
afterAll(() => sandbox?.stop());

const verifier = oidc.randomPKCECodeVerifier();
const authUrl = async (more: Record<string, string> = {}) => {
  const code_challenge = await oidc.calculatePKCECodeChallenge(verifier);
  const parameters = {
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge,
    code_challenge_method: 'S256',
    nonce: 'n',
  };
  return oidc.buildAuthorizationUrl(config, { ...parameters, state: 's', ...more });
};

const signIn = async (url: URL, person: string): Promise<URL> => {
  const returned = await new Browser().signIn(url.href, redirectUri, `person=${person}`);
  return new URL(`${redirectUri}?${returned}`);
};

test('who has a session there returns without a page, and nobody else', async () => {
  const browser = new Browser();
  const silently = async () =>
    (await browser.signIn((await authUrl({ prompt: 'none' })).href, redirectUri, '')).get('error');
  expect(await silently()).toBe('login_required');
  await browser.signIn((await authUrl()).href, redirectUri, 'person=operator');
  expect(await silently()).toBeNull();
});

const redeem = (returned: URL, more: object = {}) =>
  oidc.authorizationCodeGrant(config, returned, {
    expectedState: 's',
    expectedNonce: 'n',
    pkceCodeVerifier: verifier,
    ...more,
  });

test.each([
  ['operator', ['operators']],
  ['auditor', ['auditors']],
  ['guest', []],
])('signs %s in, with the groups %j', async (person, groups) => {
  const tokens = await redeem(await signIn(await authUrl(), person));
  expect(tokens.claims()).toMatchObject({ iss: sandbox.signIn.issuer, sub: person, groups });
});

test('a code is redeemed once, and only with its verifier', async () => {
  const returned = await signIn(await authUrl(), 'operator');
  await expect(redeem(returned, { pkceCodeVerifier: oidc.randomPKCECodeVerifier() })).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  const again = await signIn(await authUrl(), 'operator');
  await redeem(again);
  await expect(redeem(again)).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('a request without PKCE, or to another redirect URI, is refused', async () => {
  const url = await authUrl();
  url.searchParams.delete('code_challenge');
  url.searchParams.delete('code_challenge_method');
  expect((await signIn(url, 'operator')).searchParams.get('error')).toBe('invalid_request');
  const elsewhere = await fetch(await authUrl({ redirect_uri: 'https://evil.example/' }), {
    redirect: 'manual',
  });
  expect(elsewhere.status).toBe(400);
});

test('the page knows only its people', async () => {
  const response = await fetch(`${sandbox.url}/provider/interaction/x`, {
    method: 'POST',
    body: 'person=root',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(response.status).toBe(400);
});
