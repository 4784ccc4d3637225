import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sandboxTypes } from '../harness/destination-types.ts';
import { type Api, expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';

// Changing something that exists needs `update`, at every endpoint. This test takes the endpoints from the API
// description and calls them on objects that exist, with tokens that may create everything and update nothing. A new
// endpoint is therefore covered; one below a new path fails the test until `objects` names an object there.

/** Operations that need no token. */
const open = [
  'get /v1/sys/health',
  'head /v1/sys/health',
  'get /v1/sys/seal-status',
  'get /v1/sys/leader',
  'get /v1/sys/init',
  'get /v1/sys/internal/specs/openapi',
  'get /v1/identity/oidc/plugins/.well-known/openid-configuration',
  'get /v1/identity/oidc/plugins/.well-known/keys',
  'post /v1/auth/{mount}/login',
  'post /v1/auth/{mount}/oidc/auth_url',
  'get /v1/auth/{mount}/oidc/callback',
  'post /v1/auth/{mount}/oidc/callback',
  'post /v1/sys/wrapping/lookup',
];

/** Operations that only ever create a new object, or that any token may perform, with what they return. */
const permitted = (): Record<string, string> => ({
  'post /v1/auth/token/create': '200',
  'post /v1/auth/token/create/{role}': '200',
  'post /v1/sys/wrapping/wrap': '400 the header x-service-wrap-ttl is required',
  'post /v1/auth/token/create-orphan': '200',
  'get /v1/sys/internal/ui/mounts': '200',
  'get /v1/sys/internal/ui/mounts/{path}': '200',
  'get /v1/sys/internal/ui/resultant-acl': '200',
  'post /v1/sys/mounts/{path}': `409 path is already in use at ${at.mount}/`,
});

/** Bodies of endpoints that parse the body before they look for the object. */
const bodies = (): Record<string, object> => ({
  'post /v1/sys/auth/{path}': { type: 'cloudB' },
  'post /v1/sys/mounts/{path}': { type: 'kv' },
  'post /v1/sys/policies/acl/{name}': { policy: 'path "*" { capabilities = ["read"] }' },
  'post /v1/sys/policy/{name}': { policy: 'path "*" { capabilities = ["read"] }' },
  'post /v1/sys/quotas/rate-limit/{name}': { path: 'absent', rate: 1_000 },
  'post /v1/sys/audit-hash/{device}': { input: 'x' },
  'post /v1/{mount}/data/{path}': { data: {} },
  'post /v1/sys/sync/codehost-apps/{name}': { app_id: 1, private_key: '*****' },
  'post /v1/sys/sync/destinations/{type}/{name}/confirm-scope': { scope_id: 'x' },
  'post /v1/sys/sync/destinations/{type}/{name}/rules/{rule}': { mount: at.mount, path: 'none' },
  'post /v1/sys/sync/destinations/{type}/{name}/rules/{rule}/plan': { mount: at.mount, path: 'none' },
  'post /v1/identity/group': { name: 'group' },
  'post /v1/sys/wrapping/unwrap': { token: 'x' },
  'post /v1/sys/wrapping/rewrap': { token: 'x' },
  'post /v1/identity/group-alias': groupAlias,
  'post /v1/identity/entity': { name: 'entity' },
  'post /v1/identity/entity-alias': entityAlias,
});

let system: Installation;
let at: SyncFixture;
/** The alias of a group in the form in which it was written; `groupAliasId` is its ID. */
let groupAlias: { name: string; mount_accessor: string; canonical_id: string };
let groupAliasId: string;
let entityAlias: { name: string; mount_accessor: string; canonical_id: string };
/** `<method> <path>` of every operation in the API description. */
let operations: string[];

beforeAll(async () => {
  system = await startInstallation();
  at = await SyncFixture.create(system);
  await createObjects(system.api);
  const { paths } = (await system.as(undefined)('GET', 'sys/internal/specs/openapi')).body;
  operations = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
});
afterAll(() => system?.stop());

async function createObjects(api: Api): Promise<void> {
  await at.sync('a', { k: 'v' });
  for (const { type, fields } of sandboxTypes)
    expectStatus(
      await api(
        'POST',
        `sys/sync/destinations/${type}/${at.destination}`,
        fields(await system.sandbox.store(type)),
      ),
      200,
    );
  expectStatus(await api('POST', `${at.path}/rules/rule`, { mount: at.mount, path: 'none' }), 200);
  expectStatus(await api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
  expectStatus(await api('POST', 'auth/cloudB/config', { tenant_id: 't', resource: 'r' }), 204);
  expectStatus(await api('POST', 'auth/cloudB/role/web', { bound_group_ids: 'g' }), 204);
  await createIdentities(api);
  expectStatus(await api('POST', 'auth/token/roles/role', {}), 204);
  expectStatus(await api('POST', 'sys/quotas/rate-limit/limit', { path: 'absent', rate: 1_000 }), 204);
  expectStatus(await api('POST', 'sys/namespaces/team', {}), 200);
  expectStatus(await api('POST', 'identity/oidc/config', { issuer: 'https://secrets.example.com' }), 200);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = { app_id: 1, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
  expectStatus(await api('POST', 'sys/sync/codehost-apps/app', app), 200);
}

async function createIdentities(api: Api): Promise<void> {
  const { accessor } = (await api('GET', 'sys/auth/cloudB')).body.data;
  const group = expectStatus(await api('POST', 'identity/group', { name: 'group' }), 200).body.data;
  groupAlias = { name: 'g', mount_accessor: accessor, canonical_id: group.id };
  const alias = expectStatus(await api('POST', 'identity/group-alias', groupAlias), 200).body.data;
  groupAliasId = alias.id;
  const entity = expectStatus(await api('POST', 'identity/entity', { name: 'entity' }), 200).body.data;
  entityAlias = { name: 'e', mount_accessor: accessor, canonical_id: entity.id };
  expectStatus(await api('POST', 'identity/entity-alias', entityAlias), 200);
}

/** Whether a caller may read a move or an entry is decided before it is looked up. */
const anyId = '00000000-0000-4000-8000-000000000000';

/** Path parameters of objects that exist; the first matching prefix applies. */
const objects = (): [prefix: string, parameters: Record<string, string>][] => [
  ['/v1/sys/mounts/auth/{path}', { path: 'cloudB' }],
  ['/v1/sys/mounts/{path}', { path: at.mount }],
  ['/v1/sys/internal/ui/mounts/{path}', { path: at.mount }],
  ['/v1/sys/remount/status/{id}', { id: anyId }],
  ['/v1/sys/auth/{path}', { path: 'cloudB' }],
  ['/v1/sys/namespaces/{path}', { path: 'team' }],
  ['/v1/sys/quotas/rate-limit/{name}', { name: 'limit' }],
  ['/v1/sys/audit-hash/{device}', { device: 'file' }],
  ['/v1/sys/policies/acl/{name}', { name: 'default' }],
  ['/v1/sys/policy/{name}', { name: 'default' }],
  ['/v1/auth/token/', { name: 'role', role: 'role' }],
  ['/v1/auth/{mount}/', { mount: 'cloudB', name: 'web' }],
  ['/v1/identity/entity', { id: entityAlias.canonical_id, name: 'entity' }],
  ['/v1/identity/group-alias/', { id: groupAliasId }],
  ['/v1/identity/group/', { id: groupAlias.canonical_id, name: 'group' }],
  ['/v1/sys/sync/entries/{id}', { id: anyId }],
  ['/v1/sys/events/subscribe/{type}', { type: 'kv-v2' }],
  ['/v1/sys/sync/codehost-apps/', { name: 'app' }],
  ['/v1/sys/sync/destinations/', { type: 'cloudA-sm', name: at.destination, rule: 'rule' }],
  ['/v1/sys/sync/associations/', { mount: at.mount, secret_name: 'a' }],
  ['/v1/sys/sync/parked/', { queue: 'secret-changes' }],
  ['/v1/{mount}/', { mount: at.mount, path: 'a' }],
];

function pathOf(template: string): string {
  const parameters = objects().find(([prefix]) => template.startsWith(prefix))?.[1] ?? {};
  return template.slice('/v1/'.length).replace(/\{(\w+)\}/g, (_, name: string) => {
    if (parameters[name] === undefined) throw new Error(`name an object for ${template}`);
    return parameters[name];
  });
}

/** Calls an operation with a new token, because some operations revoke the token that calls them. */
async function outcomeOf(operation: string, policy: string): Promise<string> {
  const created = await system.api('POST', 'auth/token/create', {
    policies: policy,
    no_default_policy: true,
  });
  const api = system.as(expectStatus(created, 200).body.auth.client_token);
  const [method, template] = operation.split(' ') as [string, string];
  const body = method === 'post' ? (bodies()[operation] ?? {}) : undefined;
  const answer = await api(method.toUpperCase(), pathOf(template), body);
  return [answer.status, ...(answer.body?.errors ?? [])].join(' ');
}

test.each([[['create']], [['create', 'sudo']]])(
  'a token with only %j everywhere can change nothing that exists',
  async (capabilities) => {
    const policy = capabilities.join('-');
    const source = `path "*" { capabilities = ${JSON.stringify(capabilities)} }`;
    expectStatus(await system.api('POST', `sys/policies/acl/${policy}`, { policy: source }), 204);
    const walked = operations.filter((operation) => !open.includes(operation));
    const outcomes: Record<string, string> = {};
    for (const operation of walked) outcomes[operation] = await outcomeOf(operation, policy);
    expect(outcomes).toEqual({
      ...Object.fromEntries(walked.map((operation) => [operation, '403 permission denied'])),
      ...permitted(),
    });
    expect(walked.length).toBeGreaterThan(50);
  },
);

test('the objects and bodies of this test are those of endpoints that exist', () => {
  for (const operation of [...open, ...Object.keys(permitted()), ...Object.keys(bodies())])
    expect(operations).toContain(operation);
});
