import { Browser } from '../../../libs/testing/src/browser.ts';
import type { Installation } from '../../harness/installation.ts';
import type { Call } from './call.ts';

const redirectUri = 'http://127.0.0.1:8250/oidc/callback';
const client_nonce = 'random-text-of-the-client';

/** Logs in with a JWT of the directory, and signs in with a browser at the provider of the sandbox. */
export async function jwtLogins(system: Installation, call: Call): Promise<void> {
  await workloads(system, call);
  await people(system, call);
}

async function workloads({ sandbox, sandboxUrl }: Installation, call: Call): Promise<void> {
  const { tenant_id, identities } = await sandbox.directory();
  const audience = 'https://secrets.example';
  const mount = { mount: 'ci' };
  await call('POST sys/auth/{path}', { path: mount.mount }, { type: 'jwt' });
  await call('POST auth/{mount}/config', mount, {
    jwks_url: `${sandboxUrl}/directory/${tenant_id}/discovery/v2.0/keys`,
    default_role: 'deploy',
  });
  await call('GET auth/{mount}/config', mount);
  const role = { ...mount, name: 'deploy' };
  await call('POST auth/{mount}/role/{name}', role, {
    role_type: 'jwt',
    user_claim: 'oid',
    bound_audiences: audience,
    bound_claims: { oid: identities[0]!.oid },
  });
  await call('GET auth/{mount}/role/{name}', role);
  const jwt = await sandbox.issueToken({ identity: identities[0]!.name, audience });
  await call('POST auth/{mount}/login', mount, { jwt });
  await call('POST auth/{mount}/diagnose', mount, { jwt });
  await call('POST auth/{mount}/diagnose', mount, { role: 'other', jwt });
  await call('DELETE sys/auth/{path}', { path: mount.mount });
}

async function people({ sandboxUrl }: Installation, call: Call): Promise<void> {
  const mount = { mount: 'staff' };
  await call('POST sys/auth/{path}', { path: mount.mount }, { type: 'oidc' });
  await call('POST auth/{mount}/config', mount, {
    oidc_discovery_url: `${sandboxUrl}/provider`,
    oidc_client_id: 'secrets-service',
    default_role: 'operator',
  });
  await call('GET auth/{mount}/config', mount);
  const role = { ...mount, name: 'operator' };
  await call('POST auth/{mount}/role/{name}', role, {
    user_claim: 'sub',
    groups_claim: 'groups',
    bound_claims: { groups: ['operators'] },
    allowed_redirect_uris: redirectUri,
  });
  await call('GET auth/{mount}/role/{name}', role);
  const signIn = async () => {
    const begun = await call('POST auth/{mount}/oidc/auth_url', mount, {
      redirect_uri: redirectUri,
      client_nonce,
    });
    const returned = await new Browser().signIn(begun.data.auth_url, redirectUri, 'person=operator');
    return { ...Object.fromEntries(returned), client_nonce };
  };
  await call('GET auth/{mount}/oidc/callback', { ...mount, ...(await signIn()) });
  await call('POST auth/{mount}/oidc/callback', mount, await signIn());
  await call('DELETE sys/auth/{path}', { path: mount.mount });
}
