import { generateKeyPairSync } from 'node:crypto';
import { eventually } from '../../harness/eventually.ts';
import type { Installation } from '../../harness/installation.ts';
import type { Call } from './call.ts';
import { jwtLogins } from './jwt-logins.ts';

type Parameters = Record<string, string>;

const list = { list: 'true' };

/** Settings of a mount that are shown once they are set. */
const attributes = {
  allowed_managed_keys: ['key'],
  allowed_response_headers: ['x-shop'],
  audit_non_hmac_request_keys: ['user'],
  audit_non_hmac_response_keys: ['user'],
  passthrough_request_headers: ['x-shop'],
  listing_visibility: 'unauth',
};

/** Calls every operation of the API at least once, successfully, except reads without parameters that need nothing. */
export async function walkThrough(system: Installation, call: Call, callAs: (token: string) => Call) {
  await call('HEAD sys/health');
  await mountsAndSecrets(call);
  await policiesAndNamespaces(call);
  await auditAndQuotas(call);
  await tokens(call, callAs);
  await tokenRoles(call, callAs);
  await wrapping(call, callAs);
  await syncing(system, call);
  await identities(system, call);
  await jwtLogins(system, call);
}

async function mountsAndSecrets(call: Call): Promise<void> {
  const mount = { path: 'secret' };
  await call('POST sys/mounts/{path}', mount, { type: 'kv-v2', description: 'secrets of the shop' });
  await call('GET sys/mounts');
  await call('GET sys/mounts/{path}', mount);
  await call('GET sys/mounts/{path}/tune', mount);
  await call('POST sys/mounts/{path}/tune', mount, { max_versions: 20, description: 'secrets' });
  await call('POST sys/mounts/{path}/tune', mount, attributes);
  await call('GET sys/mounts/{path}/tune', mount);
  await call('GET sys/internal/ui/mounts/{path}', { path: 'secret/shop' });
  await call('GET sys/internal/ui/mounts');
  await call('GET sys/internal/ui/resultant-acl');
  const below = { mount: 'secret' };
  await call('POST {mount}/config', below, { delete_version_after: '720h' });
  await call('GET {mount}/config', below);
  const at = { mount: 'secret', path: 'shop/db' };
  await call('POST {mount}/data/{path}', at, { data: { user: 'shop', port: 5432 }, options: { cas: 0 } });
  await call('PATCH {mount}/data/{path}', at, { data: { port: null, host: 'db.example' } });
  await call('POST {mount}/metadata/{path}', at, { custom_metadata: { owner: 'ann' }, max_versions: 5 });
  await call('PATCH {mount}/metadata/{path}', at, { custom_metadata: { team: 'shop' } });
  await call('GET {mount}/data/{path}', at);
  await call('GET {mount}/subkeys/{path}', { ...at, depth: '1' });
  await call('POST {mount}/delete/{path}', at, { versions: [1] });
  await call('POST {mount}/undelete/{path}', at, { versions: [1] });
  await call('POST {mount}/destroy/{path}', at, { versions: [1] });
  await call('GET {mount}/metadata/{path}', at);
  await call('DELETE {mount}/data/{path}', at);
  await call('DELETE {mount}/metadata/{path}', at);
  await call('POST sys/mounts/{path}', { path: 'old' }, { type: 'kv' });
  const { data: move } = await call('POST sys/remount', {}, { from: 'old', to: 'former' });
  await call('GET sys/remount/status/{id}', { id: move.migration_id });
  await call('DELETE sys/mounts/{path}', { path: 'former' });
}

async function policiesAndNamespaces(call: Call): Promise<void> {
  const policy = 'path "secret/data/shop/*" {\n  capabilities = ["read"]\n}\n';
  for (const base of ['sys/policies/acl', 'sys/policy']) {
    await call(`POST ${base}/{name}`, { name: 'shop' }, { policy });
    await call(`GET ${base}/{name}`, { name: 'shop' });
    await call(`GET ${base}`, base === 'sys/policy' ? {} : list);
    await call(`DELETE ${base}/{name}`, { name: 'shop' });
  }
  const team = { path: 'team' };
  await call('POST sys/namespaces/{path}', team, { custom_metadata: { owner: 'ann' } });
  await call('PATCH sys/namespaces/{path}', team, { custom_metadata: { owner: 'bob' } });
  await call('GET sys/namespaces/{path}', team);
  await call('GET sys/namespaces', list);
  await call('DELETE sys/namespaces/{path}', team);
}

async function auditAndQuotas(call: Call): Promise<void> {
  const devices = await call('GET sys/audit');
  const device = Object.keys(devices.data)[0]!.replace(/\/$/, '');
  await call('POST sys/audit-hash/{device}', { device }, { input: 'SBkmIeh6T9MeMDdDIprvntfe' });
  await call('GET sys/key-status');
  await call('POST sys/rotate');
  await call('GET sys/key-status');
  const quota = { name: 'shop' };
  await call('POST sys/quotas/rate-limit/{name}', quota, { rate: 100, path: 'secret/data/shop' });
  await call('GET sys/quotas/rate-limit/{name}', quota);
  await call('GET sys/quotas/rate-limit', list);
  await call('DELETE sys/quotas/rate-limit/{name}', quota);
}

async function tokens(call: Call, callAs: (token: string) => Call): Promise<void> {
  await call('POST auth/token/create-orphan', {}, { policies: ['default'], ttl: '1h' });
  const { client_token: token, accessor } = (
    await call('POST auth/token/create', {}, { policies: ['default'], ttl: '1h', display_name: 'shop' })
  ).auth;
  await call('GET auth/token/accessors', list);
  await call('POST auth/token/lookup', {}, { token });
  await call('POST auth/token/lookup-accessor', {}, { accessor });
  await call('POST auth/token/renew', {}, { token, increment: '1h' });
  await call('POST auth/token/renew-accessor', {}, { accessor, increment: '1h' });
  await call('POST sys/capabilities', {}, { token, paths: ['secret/data/shop/db'] });
  await call('POST sys/capabilities-accessor', {}, { accessor, paths: ['secret/data/shop/db'] });
  const own = callAs(token);
  await own('GET auth/token/lookup-self');
  await own('POST auth/token/renew-self', {}, { increment: 3_600 });
  await own('POST sys/capabilities-self', {}, { paths: ['auth/token/lookup-self', 'secret/data/a'] });
  await own('POST sys/capabilities-self', {}, { paths: ['secret/data/a'] });
  await own('GET sys/internal/ui/resultant-acl');
  await own('POST auth/token/revoke-self');
  await call('POST auth/token/revoke', {}, { token });
  await call('POST auth/token/revoke-orphan', {}, { token });
  const other = (await call('POST auth/token/create', {}, { policies: ['default'] })).auth;
  await call('POST auth/token/revoke-accessor', {}, { accessor: other.accessor });
}

/** A lookup shows limits of a token only if it has them. */
async function limitedToken(call: Call, callAs: (token: string) => Call): Promise<void> {
  const limits = { token_period: '1h', token_bound_cidrs: ['0.0.0.0/0', '::/0'] };
  await call('POST auth/token/roles/{name}', { name: 'limited' }, limits);
  const created = await call('POST auth/token/create/{role}', { role: 'limited' }, { policies: ['default'] });
  const { client_token: token, accessor } = created.auth;
  await call('POST auth/token/renew-accessor', {}, { accessor });
  await call('POST auth/token/lookup', {}, { token });
  await call('POST auth/token/lookup-accessor', {}, { accessor });
  await callAs(token)('GET auth/token/lookup-self');
  await call('POST auth/token/revoke-accessor', {}, { accessor });
  await call('DELETE auth/token/roles/{name}', { name: 'limited' });
}

async function tokenRoles(call: Call, callAs: (token: string) => Call): Promise<void> {
  const role = { name: 'shop' };
  await call('POST auth/token/roles/{name}', role, { allowed_policies: ['default'], token_period: '1h' });
  await call('GET auth/token/roles/{name}', role);
  await call('GET auth/token/roles', list);
  await call('POST auth/token/create/{role}', { role: 'shop' }, { display_name: 'shop' });
  await limitedToken(call, callAs);
  await call('DELETE auth/token/roles/{name}', role);
}

async function wrapping(call: Call, callAs: (token: string) => Call): Promise<void> {
  const wrapped = async () => {
    const { wrap_info } = await call(
      'POST sys/wrapping/wrap',
      {},
      { user: 'shop' },
      { 'x-service-wrap-ttl': '5m' },
    );
    return { token: wrap_info.token as string };
  };
  const first = await wrapped();
  await call('POST sys/wrapping/lookup', {}, first);
  await callAs(first.token)('GET sys/wrapping/lookup');
  const { wrap_info } = await call('POST sys/wrapping/rewrap', {}, first);
  await call('POST sys/wrapping/unwrap', {}, { token: wrap_info.token });
}

async function syncing({ api, sandbox }: Installation, call: Call): Promise<void> {
  const path = 'sys/sync/destinations/{type}/{name}';
  const at = { type: 'cloudA-sm', name: 'main' };
  const credentials = await sandbox.credentials();
  await call(
    'POST sys/sync/destinations/cloudA-sm/{name}',
    { name: 'main' },
    { ...credentials, region: 'eu-west-1' },
  );
  await call(
    'PATCH sys/sync/destinations/cloudA-sm/{name}',
    { name: 'main' },
    { custom_tags: { team: 'shop' } },
  );
  await pushIsDone(api);
  await call('POST {mount}/data/{path}', { mount: 'secret', path: 'shop/db' }, { data: { user: 'shop' } });
  const secret = { mount: 'secret', secret_name: 'shop/db' };
  await call(`POST ${path}/associations/plan`, at, secret);
  await call(`POST ${path}/associations/set`, { ...at, wait: '5' }, secret);
  await looks(call, path, at, secret);
  await call(`GET ${path}/associations`, at);
  await histories(call, path, { ...at, ...secret });
  await ofSecret(call, path, at, secret);
  await call('GET sys/sync/destinations', list);
  await call('GET sys/sync/destinations/{type}', { type: 'cloudA-sm', ...list });
  await call(`GET ${path}`, at);
  await wholeDestination(call, path, at);
  await call('GET sys/sync/status');
  await call('GET sys/sync/lanes');
  await outcomesAreCounted(api);
  await call('GET sys/sync/throughput');
  await call('GET sys/sync/parked', list);
  const queue = { queue: 'sync.clouda-sm' };
  await call('GET sys/sync/parked/{queue}', queue);
  await call('POST sys/sync/parked/{queue}/resend', queue, {});
  await call('POST sys/sync/parked/{queue}/discard', queue, {});
  await call('GET sys/sync/config');
  await call('PATCH sys/sync/config', {}, { queue_capacity: 500_000 });
  await call('DELETE sys/sync/config');
  await call('POST sys/sync/confirm-installation');
  await keptSecret(call, path, at, secret);
  await otherDestinations(sandbox, call);
}

async function histories(call: Call, path: string, of: Parameters): Promise<void> {
  const { data } = await call(`GET ${path}/associations/history`, of);
  await call('GET sys/sync/entries/{id}', { id: data.external_secrets[0].id });
}

async function listOfSecrets(call: Call, path: string, at: Parameters, secret: Parameters): Promise<void> {
  const several = { secrets: [secret, { ...secret, secret_name: 'shop/none' }] };
  await call(`POST ${path}/associations/plan`, at, several);
  await call(`POST ${path}/associations/set`, { ...at, wait: '5' }, several);
}

async function looks(call: Call, path: string, at: Parameters, secret: Parameters): Promise<void> {
  await listOfSecrets(call, path, at, secret);
  await call(`POST ${path}/inspect`, at, secret);
  await call(`GET ${path}/external-secrets`, at);
  await call(`POST ${path}/import`, at, { mount: secret.mount, match: '*' });
  await call(`POST ${path}/import`, at, { mount: secret.mount, names: ['missing'], dry_run: false });
  await eventually(
    () => call(`GET ${path}/import`, at),
    ({ data }) => data.state === 'done',
  );
  await call(`DELETE ${path}/import`, at);
  await call(`POST ${path}/associations/plan`, at, { ...secret, look: true });
}

async function ofSecret(call: Call, path: string, at: Parameters, secret: Parameters): Promise<void> {
  await call('GET sys/sync/associations', list);
  await call('GET sys/sync/associations/{mount}/{secret_name}', secret);
  await call('GET sys/sync/associations/destinations', secret);
  await waits(call, secret);
  await rules(call, path, at, secret);
}

/** The association is held by the rule as well, until that is deleted. */
async function rules(call: Call, path: string, at: Parameters, secret: Parameters): Promise<void> {
  const of = { ...at, rule: 'shop' };
  const rule = { mount: secret.mount, path: 'shop/*', exclude: ['shop/tmp*'] };
  await call(`POST ${path}/rules/{rule}/plan`, of, rule);
  await call(`POST ${path}/rules/{rule}`, of, rule);
  await call(`PATCH ${path}/rules/{rule}`, of, { metadata_match: null });
  await eventually(
    () => call(`GET ${path}/rules/{rule}`, of),
    ({ data }) => data.state === 'up_to_date',
  );
  await call(`GET ${path}/rules`, { ...at, ...list });
  await call(`GET ${path}/rules/{rule}/plan`, of);
  await call(`POST ${path}/associations/remove`, { ...at, wait: '5' }, secret);
  await call(`POST ${path}/associations/set`, { ...at, wait: '5' }, secret);
  await call(`DELETE ${path}/rules/{rule}`, of);
  await eventually(
    () => call('GET sys/sync/associations/destinations', secret),
    ({ data }) =>
      Object.values<{ held_by_rules: string[] }>(data.associated_destinations).every(
        (one) => one.held_by_rules.length === 0,
      ),
  );
}

/** The second version has not been written. */
async function waits(call: Call, secret: Parameters): Promise<void> {
  for (const operation of ['{mount}/{secret_name}', 'destinations'])
    await call(`GET sys/sync/associations/${operation}`, { ...secret, version: '2', wait: '0s' });
}

async function wholeDestination(call: Call, path: string, at: Record<string, string>): Promise<void> {
  await call(`POST ${path}/check`, at);
  await call(`POST ${path}/replan`, at, { dry_run: true });
  await call(`POST ${path}/retry`, at);
  await call(`POST ${path}/confirm-removals`, at);
  await call(`POST ${path}/confirm-repairs`, at);
  await call(`POST ${path}/confirm-scope`, at, { scope_id: '123456789012' });
}

/** An external secret that is kept is listed without an association. */
async function keptSecret(call: Call, path: string, at: Record<string, string>, secret: object) {
  await call(`POST ${path}/associations/remove`, { ...at, wait: '5', keep: 'true' }, { secrets: [secret] });
  await call(`POST ${path}/associations/remove`, at, secret);
  await call(`GET ${path}/external-secrets`, at);
  await call(`DELETE ${path}`, at, { purge: true });
}

/** A change of a destination pushes what is associated by then again, in the background. */
const pushIsDone = (api: Installation['api']) =>
  eventually(
    async () => (await api('GET', 'sys/sync/destinations/cloudA-sm/main')).body.data,
    (data) => data.push_initiated_at === undefined,
  );

/** They are counted in the background. */
const outcomesAreCounted = (api: Installation['api']) =>
  eventually(
    async () => (await api('GET', 'sys/sync/throughput')).body.data.types,
    (types) => Object.keys(types).length > 0,
  );

async function otherDestinations(sandbox: Installation['sandbox'], call: Call): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const app = { name: 'sync-app' };
  await call('POST sys/sync/codehost-apps/{name}', app, { app_id: 1_234, private_key });
  await call('GET sys/sync/codehost-apps/{name}', app);
  await call('GET sys/sync/codehost-apps', list);
  await call('DELETE sys/sync/codehost-apps/{name}', app);
  const vault = await sandbox.store('cloudB-kv');
  const bodies = {
    'cloudB-kv': {
      key_vault_uri: vault.keyVaultUri,
      tenant_id: vault.tenantId,
      client_id: vault.clientId,
      client_secret: vault.clientSecret,
    },
    'cloudC-sm': { project_id: 'my-project-123' },
    codehost: { access_token: 'a-token', repository_owner: 'acme', repository_name: 'shop' },
    'webhost-project': {
      access_token: 'a-token',
      project_id: 'prj_1234',
      deployment_environments: ['production'],
    },
  };
  for (const [type, body] of Object.entries(bodies)) {
    await call(`POST sys/sync/destinations/${type}/{name}`, { name: 'other' }, body);
    const change = { secret_name_template: null };
    await call(`PATCH sys/sync/destinations/${type}/{name}`, { name: 'other' }, change);
  }
}

async function identities({ sandbox }: Installation, call: Call): Promise<void> {
  const mount = { path: 'cloudB' };
  await call('POST sys/auth/{path}', mount, { type: 'cloudB', description: 'workloads' });
  await call('GET sys/auth');
  await call('GET sys/auth/{path}', mount);
  await call('GET sys/mounts/auth/{path}', mount);
  await call('GET sys/mounts/auth/{path}', mount);
  await call('POST sys/auth/{path}/tune', mount, { default_lease_ttl: '1h' });
  await call('POST sys/auth/{path}/tune', mount, attributes);
  await call('GET sys/auth/{path}/tune', mount);
  await call('POST sys/mounts/auth/{path}/tune', mount, { default_lease_ttl: '2h' });
  await call('GET sys/mounts/auth/{path}/tune', mount);
  await logins(sandbox, call);
  const entities = await call('GET identity/entity/id', list);
  const id = entities.data.keys[0] as string;
  await call('POST identity/entity/id/{id}', { id }, { name: 'shop', metadata: { team: 'shop' } });
  await call('GET identity/entity/id/{id}', { id });
  await call('GET identity/entity/name/{name}', { name: 'shop' });
  await call('POST identity/entity/name/{name}', { name: 'shop' }, { policies: ['shop'] });
  await call('GET identity/entity/name', list);
  const aliases = await call('GET identity/entity-alias/id', list);
  await call('GET identity/entity-alias/id/{id}', { id: aliases.data.keys[0] as string });
  await entityAliases(call);
  await groups(call);
  await call('DELETE identity/entity/name/{name}', { name: 'shop' });
  await call('DELETE identity/entity/id/{id}', { id });
  await issuer(call);
  await call('DELETE auth/{mount}/role/{name}', { mount: 'cloudB', name: 'shop' });
  await call('DELETE auth/{mount}/config', { mount: 'cloudB' });
  await call('DELETE sys/auth/{path}', mount);
}

async function logins(sandbox: Installation['sandbox'], call: Call): Promise<void> {
  const { tenant_id, identities: known } = await sandbox.directory();
  const resource = 'https://management.azure.com/';
  const mount = { mount: 'cloudB' };
  const role = { ...mount, name: 'shop' };
  const { clientId, clientSecret } = await sandbox.store('cloudB-kv');
  const credentials = { client_id: clientId, client_secret: clientSecret };
  await call('POST auth/{mount}/config', mount, { tenant_id, resource, ...credentials });
  await call('PATCH auth/{mount}/config', mount, { max_retries: 2 });
  await call('GET auth/{mount}/config', mount);
  await call('POST auth/{mount}/config/check', mount, {});
  await call('POST auth/{mount}/role/{name}', role, {
    bound_service_principal_ids: [known[0]!.oid],
    token_ttl: '1h',
  });
  await call('GET auth/{mount}/role/{name}', role);
  await call('GET auth/{mount}/role', { ...mount, ...list });
  const jwt = await sandbox.issueToken({ identity: known[0]!.name, audience: resource });
  await call('POST auth/{mount}/login', mount, { role: 'shop', jwt });
  await call('POST auth/{mount}/diagnose', mount, { role: 'shop', jwt });
  await call('POST auth/{mount}/rotate-root', mount);
}

async function entityAliases(call: Call): Promise<void> {
  const { id } = (await call('POST identity/entity', {}, { name: 'worker', policies: ['shop'] })).data;
  const { accessor } = (await call('GET sys/auth')).data['cloudB/'];
  const alias = { name: 'a1b2c3d4-0000-4000-8000-000000000002', mount_accessor: accessor, canonical_id: id };
  await call('POST identity/entity-alias', {}, alias);
  await call('POST identity/entity-alias/id/{id}', { id }, { name: alias.name });
  await call('POST identity/lookup/entity', {}, { name: 'worker' });
  await call('DELETE identity/entity-alias/id/{id}', { id });
}

async function groups(call: Call): Promise<void> {
  const { id } = (await call('POST identity/group', {}, { name: 'admins', policies: ['shop'] })).data;
  await call('POST identity/group/id/{id}', { id }, { metadata: { team: 'shop' } });
  await call('POST identity/group/name/{name}', { name: 'admins' }, { policies: ['shop'] });
  const mounts = await call('GET sys/auth');
  const { accessor } = mounts.data['cloudB/'];
  const group = 'a1b2c3d4-0000-4000-8000-000000000001';
  const alias = { name: group, mount_accessor: accessor, canonical_id: id };
  const { id: aliasId } = (await call('POST identity/group-alias', {}, alias)).data;
  await call('POST identity/group-alias/id/{id}', { id: aliasId }, { name: group });
  await call('GET identity/group-alias/id', list);
  await call('GET identity/group-alias/id/{id}', { id: aliasId });
  await call('GET identity/group/id', list);
  await call('GET identity/group/name', list);
  await call('GET identity/group/id/{id}', { id });
  await call('GET identity/group/name/{name}', { name: 'admins' });
  await call('POST identity/lookup/group', {}, { name: 'admins' });
  await call('DELETE identity/group-alias/id/{id}', { id: aliasId });
  await call('DELETE identity/group/id/{id}', { id });
  await call('DELETE identity/group/name/{name}', { name: 'admins' });
}

async function issuer(call: Call): Promise<void> {
  await call('POST identity/oidc/config', {}, { issuer: 'https://secrets.example' });
  await call('GET identity/oidc/config');
  await call('GET identity/oidc/plugins/.well-known/openid-configuration');
  await call('GET identity/oidc/plugins/.well-known/keys');
}
