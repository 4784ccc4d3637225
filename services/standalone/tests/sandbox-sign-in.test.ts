import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Browser } from '@secrets/testing/browser';
import { startStandaloneForTest, withFolder } from './standalone-for-test.ts';

const clientNonce = 'a-nonce-of-the-client';
const redirect_uri = 'http://127.0.0.1:8250/oidc/callback';

test('people sign in at the provider of the sandbox, with the policy of their group, also after a restart and without root token', async () => {
  await withFolder(async (folder) => {
    for (const start of ['first', 'second']) {
      const standalone = await startStandaloneForTest({ DATA_DIR: folder, INSTALLATION: 'test' });
      const call = async (method: string, path: string, body?: object, token = '') => {
        const init = {
          method,
          headers: { 'x-service-token': token },
          ...(body && { body: JSON.stringify(body) }),
        };
        return (await (await fetch(`${standalone.url}/v1/${path}`, init)).json()) as never;
      };
      const signIn = async (person: string) => {
        const begun = { redirect_uri, client_nonce: clientNonce };
        const { data } = (await call('POST', 'auth/oidc/oidc/auth_url', begun)) as {
          data: { auth_url: string };
        };
        const returned = Object.fromEntries(
          await new Browser().signIn(data.auth_url, redirect_uri, `person=${person}`),
        );
        return (await call('POST', 'auth/oidc/oidc/callback', {
          ...returned,
          client_nonce: clientNonce,
        })) as {
          auth?: { identity_policies: string[]; client_token: string };
          errors?: string[];
        };
      };
      expect([start, (await signIn('operator')).auth?.identity_policies]).toEqual([start, ['operator']]);
      expect((await signIn('auditor')).auth?.identity_policies).toEqual(['auditor']);
      expect((await signIn('guest')).errors).toEqual([expect.stringContaining('groups')]);
      const root = readFileSync(standalone.rootTokenFile, 'utf8').trim();
      expect(await call('GET', 'sys/auth/oidc', undefined, root)).toMatchObject({
        data: { config: { listing_visibility: 'unauth' } },
      });
      if (start === 'second') {
        const headers = { 'x-service-token': root };
        const revoked = await fetch(`${standalone.url}/v1/auth/token/revoke-self`, {
          method: 'POST',
          headers,
        });
        expect(revoked.status).toBe(204);
        expect(await call('GET', 'sys/auth/oidc', undefined, root)).toHaveProperty('errors');
        const { auth } = await signIn('operator');
        expect(await call('GET', 'sys/auth/oidc', undefined, auth!.client_token)).toHaveProperty('data');
      }
      await standalone.stop();
    }
  });
});
