// Signs people in at a Keycloak that it downloads from Maven Central, as docs/operations/first-day.md sets it up. Not a part of
// CI, because the download has 160 MB. It needs Java 17 or newer, and Maven.
//
//   npm run keycloak
import assert from 'node:assert/strict';
import { codeOf } from '../../tests/clients/openbao/pages/code-blocks.ts';
import { expectStatus } from '../../tests/harness/http.ts';
import { type Installation, startInstallation } from '../../tests/harness/installation.ts';
import { installKeycloak } from './install-keycloak.ts';
import { clientId, type KeycloakServer, startKeycloak } from './keycloak-server.ts';
import { signInAt } from './login-page.ts';

const redirectUri = 'https://secrets.example/ui/signed-in';
const nonce = { client_nonce: 'a-nonce-of-the-console' };

const keycloak = await startKeycloak(installKeycloak(), [redirectUri]);
console.log(`Keycloak is ready: ${keycloak.issuer}`);
const service = await startInstallation({ LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${keycloak.port}` }).catch(
  async (error) => {
    await keycloak.stop();
    throw error;
  },
);

/** Writes the configuration, the role and a group, as the page does. */
async function enableSignIn({ api }: Installation, { issuer, clientSecret }: KeycloakServer): Promise<void> {
  const [commands] = codeOf('operations/first-day.md', '2. Enable sign-in', 'sh');
  const role = JSON.parse(/<<'JSON'\n(.*?)\nJSON/s.exec(commands!)![1]!);
  expectStatus(await api('POST', 'sys/auth/keycloak', { type: 'oidc' }), 204);
  const client = { oidc_client_id: clientId, oidc_client_secret: clientSecret, default_role: 'people' };
  expectStatus(await api('POST', 'auth/keycloak/config', { oidc_discovery_url: issuer, ...client }), 204);
  expectStatus(await api('POST', 'auth/keycloak/role/people', role), 204);
  const mount = expectStatus(await api('GET', 'sys/auth/keycloak'), 200).body.data;
  const group = { name: 'of-keycloak', type: 'external', policies: ['operator'] };
  const { id } = expectStatus(await api('POST', 'identity/group', group), 200).body.data;
  const alias = { name: 'operators', mount_accessor: mount.accessor, canonical_id: id };
  expectStatus(await api('POST', 'identity/group-alias', alias), 200);
}

/** Begins a sign-in, and returns what Keycloak sends back for this person. */
async function begin(username: string, password: string) {
  const { body } = await service.as(undefined)('POST', 'auth/keycloak/oidc/auth_url', {
    redirect_uri: redirectUri,
    ...nonce,
  });
  return signInAt(body.data.auth_url, redirectUri, { username, password });
}

async function returnedFor(username: string): Promise<Record<string, string>> {
  const outcome = await begin(username, keycloak.password);
  assert('returned' in outcome, `Keycloak shows a page to ${username}`);
  return outcome.returned;
}

const finish = (returned: Record<string, string>) =>
  service.as(undefined)('POST', 'auth/keycloak/oidc/callback', { ...returned, ...nonce });

const rules: Record<string, () => Promise<void>> = {
  'a person in the group is signed in, with its policy': async () => {
    const { status, body } = await finish(await returnedFor('ann'));
    assert.deepEqual([status, body.auth?.identity_policies], [200, ['operator']]);
    const mounts = await service.as(body.auth.client_token)('GET', 'sys/mounts');
    assert.equal(mounts.status, 200);
  },
  'a person in another group is refused, and the error names the claim': async () => {
    const { status, body } = await finish(await returnedFor('bob'));
    assert.equal(status, 403);
    assert.match(String(body.errors), /groups/);
  },
  'a wrong password does not leave the page of Keycloak': async () => {
    const outcome = await begin('ann', 'wrong');
    assert('page' in outcome);
    assert.match(outcome.page, /Invalid username or password/);
  },
  'what Keycloak sends back is used once': async () => {
    const returned = await returnedFor('ann');
    assert.equal((await finish(returned)).status, 200);
    assert.notEqual((await finish(returned)).status, 200);
  },
  'an answer without the issuer, which Keycloak always names, is refused': async () => {
    const { iss, ...rest } = await returnedFor('ann');
    assert.equal(iss, keycloak.issuer);
    assert.equal((await finish(rest)).status, 403);
  },
};

try {
  await enableSignIn(service, keycloak);
  for (const [rule, check] of Object.entries(rules)) {
    await check();
    console.log(`passed: ${rule}`);
  }
} finally {
  await service.stop();
  await keycloak.stop();
}
