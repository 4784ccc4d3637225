import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { anonymous, type LoginForTest, startLoginForTest } from '../../login-for-test.ts';
import { clientId, redirectUri } from './provider-for-test.ts';

/** A provider that counts requests for its discovery document, and does not respond while it is silent. */
const provider = { url: '', isDown: false, isSilent: false, documents: 0, silenced: [] as (() => void)[] };
const server = createServer((request, response) => {
  const json = response.setHeader('content-type', 'application/json');
  if (request.url === '/token') {
    const refuse = () => json.writeHead(400).end('{"error":"invalid_grant"}');
    return provider.isSilent ? void provider.silenced.push(refuse) : void refuse();
  }
  provider.documents += 1;
  if (provider.isDown) return void response.writeHead(500).end();
  json.end(
    JSON.stringify({
      issuer: provider.url,
      jwks_uri: `${provider.url}/keys`,
      authorization_endpoint: `${provider.url}/authorize`,
      token_endpoint: `${provider.url}/token`,
    }),
  );
});
let login: LoginForTest;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  provider.url = `http://127.0.0.1:${port}`;
  login = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${port}`] });
  for (const mount of ['one', 'other']) await login.call('POST', `/sys/auth/${mount}`, { type: 'oidc' });
});
afterAll(async () => {
  await login?.stop();
  server.close();
  server.closeAllConnections();
});
beforeEach(async () => {
  provider.documents = 0;
  for (const mount of ['one', 'other']) {
    await login.call('POST', `/auth/${mount}/config`, {
      oidc_discovery_url: provider.url,
      oidc_client_id: clientId,
      default_role: 'people',
      skip_jwks_validation: true,
    });
    await login.call('POST', `/auth/${mount}/role/people`, {
      allowed_redirect_uris: redirectUri,
      bound_subject: 'ann',
      user_claim: 'sub',
    });
  }
});

const nonce = { client_nonce: 'a-nonce-of-the-client' };
const begin = (mount = 'one') =>
  login.call('POST', `/auth/${mount}/oidc/auth_url`, { redirect_uri: redirectUri, ...nonce }, anonymous);
const complete = async (mount = 'one') => {
  const state = new URL((await begin(mount)).body.data.auth_url).searchParams.get('state');
  return login.call('POST', `/auth/${mount}/oidc/callback`, { state, code: 'c', ...nonce }, anonymous);
};
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

test('a provider that is down is asked once, however many sign-ins begin', async () => {
  provider.isDown = true;
  const { documents: before } = provider;
  const statuses = (await times(50, () => begin())).map(({ status }) => status);
  expect([new Set(statuses), provider.documents - before]).toEqual([new Set([503]), 1]);
  provider.isDown = false;
});

test('a provider that does not redeem codes holds up 32 sign-ins of its mount, and none of others', async () => {
  await eventually(async () => expect((await begin()).status).toBe(200)); // a failure is remembered for a second
  provider.isSilent = true;
  const [waiting, refused] = [[] as Promise<unknown>[], [] as string[]];
  for (let at = 0; at < 40; at += 1)
    waiting.push(complete().then(({ body }) => refused.push(body.errors[0])));
  await eventually(() => expect(refused.length + provider.silenced.length).toBe(40));
  expect(refused).toEqual(Array.from({ length: 8 }, () => 'too many sign-ins are being completed'));
  provider.isSilent = false;
  expect((await complete('other')).body.errors).toEqual([expect.stringContaining('invalid_grant')]);
  for (const refuse of provider.silenced) refuse();
  await Promise.all(waiting);
  expect(new Set(refused.slice(8))).toEqual(
    new Set(['the provider refused the request of this auth mount: invalid_grant']),
  );
});
