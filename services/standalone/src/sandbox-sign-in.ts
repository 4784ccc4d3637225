import { readFileSync } from 'node:fs';
import type { Sandbox } from '@secrets/sandbox';
import type { Logger } from '@secrets/telemetry';

const mount = 'oidc';
const role = 'people';

/** The ready policies by the groups of the provider whose members have them (docs/examples/policies). */
const policyOfGroup = { operators: 'operator', developers: 'developer', auditors: 'auditor' };

type Call = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ status: number; data: Record<string, unknown> }>;

/**
 * Lets people sign in at the provider of the sandbox: the first start creates an auth mount with a role, and a group for each
 * ready policy. Later ones only change the issuer, if the sandbox listens on another port and the root token is still valid.
 */
export async function prepareSignIn(
  { signIn }: Sandbox,
  { url, rootTokenFile, isFirstStart }: { url: string; rootTokenFile: string; isFirstStart: boolean },
  log: Logger,
): Promise<void> {
  const call = caller(url, readFileSync(rootTokenFile, 'utf8').trim());
  try {
    if (isFirstStart) return await create(call, signIn);
    const found = await call('GET', `auth/${mount}/config`);
    if (found.status === 200 && isOfSandbox(found.data, signIn)) await configure(call, signIn);
  } catch (error) {
    log.warn({ error }, 'unable to prepare sign-in at the provider of the sandbox');
  }
}

/** Whether a configuration was written here, for a sandbox that listened on another port. */
const isOfSandbox = (config: Record<string, unknown>, { issuer, clientId }: Sandbox['signIn']): boolean =>
  config.oidc_client_id === clientId &&
  config.oidc_discovery_url !== issuer &&
  URL.parse(String(config.oidc_discovery_url))?.pathname === new URL(issuer).pathname;

async function create(call: Call, signIn: Sandbox['signIn']): Promise<void> {
  const description = 'the provider of the sandbox';
  const config = { listing_visibility: 'unauth' };
  await call('POST', `sys/auth/${mount}`, { type: 'oidc', description, config });
  await configure(call, signIn);
  await call('POST', `auth/${mount}/role/${role}`, {
    role_type: 'oidc',
    user_claim: 'sub',
    groups_claim: 'groups',
    bound_claims: { groups: Object.keys(policyOfGroup) },
    allowed_redirect_uris: signIn.redirectUris,
    token_ttl: '1h',
    token_max_ttl: '8h',
  });
  const { accessor } = (await call('GET', `sys/auth/${mount}`)).data;
  for (const [name, policy] of Object.entries(policyOfGroup)) {
    await call('POST', `identity/group/name/${name}`, { type: 'external', policies: [policy] });
    const { id } = (await call('GET', `identity/group/name/${name}`)).data;
    await call('POST', 'identity/group-alias', { name, mount_accessor: accessor, canonical_id: id });
  }
}

const configure = (call: Call, { issuer, clientId }: Sandbox['signIn']) =>
  call('POST', `auth/${mount}/config`, {
    oidc_discovery_url: issuer,
    oidc_client_id: clientId,
    default_role: role,
  });

const caller =
  (url: string, token: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${url}/v1/${path}`, {
      method,
      headers: { 'x-service-token': token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const content = text === '' ? {} : (JSON.parse(text) as { data?: Record<string, unknown> });
    return { status: response.status, data: content.data ?? {} };
  };
