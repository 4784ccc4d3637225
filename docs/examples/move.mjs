// Copies namespaces, policies, key-value stores with their secrets, auth mounts of the type azure with their roles, and token roles
// from one server to another. Both may be Vault, OpenBao or this service. Needs Node 22 or newer and nothing else.
//
//   VAULT_ADDR=<old> VAULT_TOKEN=<token> node move.mjs export | VAULT_ADDR=<new> VAULT_TOKEN=<token> node move.mjs import
//
// VAULT_NAMESPACE selects the namespace to export from or to import into; those below it are included. The stream contains every
// secret as plain text: pipe it, or write it to a file that nobody else can read. Import continues where an earlier one has
// stopped, and changes no version that exists. What cannot be copied is reported on standard error.
import { createInterface } from 'node:readline';

const { VAULT_ADDR: address = 'http://127.0.0.1:8200', VAULT_TOKEN: token = '' } = process.env;
const base = (process.env.VAULT_NAMESPACE ?? '').replace(/\/$/, '');
const join = (...parts) => parts.filter((part) => part !== '').join('/');
const encoded = (path) => path.split('/').map(encodeURIComponent).join('/');

/** Keeps a number that JavaScript cannot represent digit for digit. */
const keepNumbers = (_name, value, { source }) =>
  typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value;

class Refused extends Error {
  constructor(method, path, status, { errors = [] } = {}) {
    super(`${method} ${path}: ${status} ${errors.join('; ')}`);
    this.status = status;
  }
}

/** Sends a request, and returns the parsed body; undefined for 404. Throws Refused for every other error. */
async function request(method, namespace, path, body) {
  const headers = { 'X-Vault-Token': token, 'X-Vault-Request': 'true' };
  const where = join(base, namespace);
  if (where !== '') headers['X-Vault-Namespace'] = where;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${address}/v1/${path}`, { method, headers, ...content });
  const text = await response.text();
  const answer = text === '' ? {} : JSON.parse(text, keepNumbers);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Refused(method, join(where, path), response.status, answer);
  return answer;
}

const read = async (namespace, path) => (await request('GET', namespace, path))?.data;
const write = (namespace, path, body) => request('POST', namespace, path, body);

/** Yields the names below a path, page by page; servers without pages ignore `after`, and send all of them. */
async function* list(namespace, path) {
  const seen = new Set();
  for (let after = ''; ; ) {
    const page = await read(namespace, `${path}?list=true&after=${encodeURIComponent(after)}`);
    const fresh = (page?.keys ?? []).filter((name) => !seen.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) seen.add(name);
    yield* fresh;
    after = fresh.at(-1);
  }
}

const report = (line) => process.stderr.write(`${line}\n`);
const picked = (fields, names) =>
  Object.fromEntries(
    names.filter((name) => fields?.[name] !== undefined).map((name) => [name, fields[name]]),
  );

// Export

const secretSettings = ['max_versions', 'cas_required', 'delete_version_after'];
const authSettings = ['tenant_id', 'resource', 'environment', 'client_id', 'identity_token_audience'];
const clouds = {
  AzurePublicCloud: 'public',
  AzureChinaCloud: 'china',
  AzureUSGovernmentCloud: 'usgovernment',
};
const tokenSettings = [
  'token_policies',
  'token_ttl',
  'token_max_ttl',
  'token_explicit_max_ttl',
  'token_period',
  'token_num_uses',
  'token_bound_cidrs',
  'token_no_default_policy',
  'token_type',
];
const azureRoleSettings = [
  'bound_service_principal_ids',
  'bound_group_ids',
  'bound_subscription_ids',
  'bound_resource_groups',
  'bound_locations',
  'bound_scale_sets',
  ...tokenSettings,
];
const tokenRoleSettings = [
  'allowed_policies',
  'disallowed_policies',
  'allowed_policies_glob',
  'disallowed_policies_glob',
  'orphan',
  'renewable',
  'path_suffix',
  ...tokenSettings.filter((name) => name !== 'token_policies'),
];

async function* exported(namespace) {
  for await (const name of list(namespace, 'sys/policies/acl'))
    if (name !== 'root' && name !== 'default') {
      const { policy } = await read(namespace, `sys/policies/acl/${encoded(name)}`);
      yield { kind: 'policy', namespace, name, policy };
    }
  for (const [path, mount] of Object.entries(await read(namespace, 'sys/mounts')))
    yield* exportedMount(namespace, path.slice(0, -1), mount);
  for (const [path, mount] of Object.entries(await read(namespace, 'sys/auth')))
    yield* exportedAuth(namespace, path.slice(0, -1), mount);
  for await (const name of list(namespace, 'auth/token/roles')) {
    const path = `auth/token/roles/${encoded(name)}`;
    const fields = picked(await read(namespace, path), tokenRoleSettings);
    yield { kind: 'fields', namespace, path, fields };
  }
  for await (const name of list(namespace, 'sys/namespaces')) {
    const inner = join(namespace, name.replace(/\/$/, ''));
    const { custom_metadata } = await read(namespace, `sys/namespaces/${name.replace(/\/$/, '')}`);
    yield { kind: 'namespace', namespace, name: name.replace(/\/$/, ''), custom_metadata };
    yield* exported(inner);
  }
}

async function* exportedMount(namespace, path, { type, description, options }) {
  if (['cubbyhole', 'identity', 'system', 'ns_cubbyhole', 'ns_identity', 'ns_system'].includes(type)) return;
  const isVersioned = type === 'kv-v2' || (type === 'kv' && options?.version === '2');
  if (!isVersioned) {
    const upgrade = type === 'kv' || type === 'generic' ? '; upgrade it to version 2 first' : '';
    return report(`not copied: mount ${join(namespace, path)} of type ${type}${upgrade}`);
  }
  yield { kind: 'mount', namespace, path, description };
  const fields = picked(await read(namespace, `${path}/config`), secretSettings);
  yield { kind: 'fields', namespace, path: `${path}/config`, fields };
  yield* exportedFolder(namespace, path, '');
}

async function* exportedFolder(namespace, mount, folder) {
  for await (const name of list(namespace, `${mount}/metadata/${encoded(folder)}`))
    if (name.endsWith('/')) yield* exportedFolder(namespace, mount, `${folder}${name}`);
    else yield* exportedSecret(namespace, mount, `${folder}${name}`);
}

/** Yields the metadata of a secret, and then its readable versions, the oldest first. */
async function* exportedSecret(namespace, mount, path) {
  const metadata = await read(namespace, `${mount}/metadata/${encoded(path)}`);
  const fields = { ...picked(metadata, secretSettings), custom_metadata: metadata.custom_metadata ?? {} };
  yield { kind: 'secret', namespace, mount, path, fields };
  const numbers = Object.keys(metadata.versions ?? {}).sort((a, b) => a - b);
  let index = 0;
  for (const number of numbers) {
    const version = await read(namespace, `${mount}/data/${encoded(path)}?version=${number}`);
    if (version?.data) yield { kind: 'version', namespace, mount, path, index: index++, data: version.data };
  }
}

async function* exportedAuth(namespace, path, { type, description, config }) {
  if (type === 'token' || type === 'ns_token') return;
  if (type !== 'azure' && type !== 'cloudB')
    return report(`not copied: auth mount ${join(namespace, path)} of type ${type}`);
  const lifetimes = picked(config, ['default_lease_ttl', 'max_lease_ttl']);
  yield { kind: 'auth', namespace, path, description, config: lifetimes };
  const settings = picked(await read(namespace, `auth/${path}/config`), authSettings);
  if (settings.tenant_id !== undefined) {
    settings.environment = clouds[settings.environment] ?? settings.environment;
    yield { kind: 'fields', namespace, path: `auth/${path}/config`, fields: settings };
    report(`not copied: client_secret of ${join(namespace, 'auth', path)}, which no server returns`);
  }
  for await (const name of list(namespace, `auth/${path}/role`)) {
    const role = `auth/${path}/role/${encoded(name)}`;
    const fields = picked(await read(namespace, role), azureRoleSettings);
    yield { kind: 'fields', namespace, path: role, fields };
  }
}

// Import

/** Enables a mount, unless it exists. */
async function enable(namespace, path, body) {
  if ((await request('GET', namespace, path).catch(() => undefined)) === undefined)
    await write(namespace, path, body);
}

/** The secret that is being imported, and how many versions it had before. */
let current = { at: '', versions: 0 };

const importers = {
  namespace: ({ namespace, name, custom_metadata }) =>
    write(namespace, `sys/namespaces/${name}`, { custom_metadata: custom_metadata ?? {} }),
  policy: ({ namespace, name, policy }) => write(namespace, `sys/policies/acl/${encoded(name)}`, { policy }),
  mount: ({ namespace, path, description }) =>
    enable(namespace, `sys/mounts/${path}`, { type: 'kv', description, options: { version: '2' } }),
  auth: ({ namespace, path, description, config }) =>
    enable(namespace, `sys/auth/${path}`, { type: 'azure', description, config }),
  fields: ({ namespace, path, fields }) => write(namespace, path, fields),
  secret: async ({ namespace, mount, path, fields }) => {
    const metadata = await read(namespace, `${mount}/metadata/${encoded(path)}`);
    current = { at: join(namespace, mount, path), versions: metadata?.current_version ?? 0 };
    if (current.versions === 0) await write(namespace, `${mount}/metadata/${encoded(path)}`, fields);
  },
  version: ({ namespace, mount, path, index, data }) => {
    if (current.at !== join(namespace, mount, path) || index < current.versions) return undefined;
    return write(namespace, `${mount}/data/${encoded(path)}`, { data, options: { cas: index } });
  },
};

async function importAll() {
  const counts = {};
  for await (const line of createInterface({ input: process.stdin })) {
    const item = JSON.parse(line, keepNumbers);
    try {
      await importers[item.kind](item);
      counts[item.kind] = (counts[item.kind] ?? 0) + 1;
    } catch (error) {
      report(`failed: ${item.kind}: ${error.message}`);
      process.exitCode = 1;
      if (!(error instanceof Refused)) return;
    }
  }
  report(`imported: ${JSON.stringify(counts)}`);
}

const command = process.argv[2];
if (command === 'export') for await (const item of exported('')) console.log(JSON.stringify(item));
else if (command === 'import') await importAll();
else {
  report('usage: node move.mjs export | node move.mjs import');
  process.exitCode = 2;
}
