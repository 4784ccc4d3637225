// Copies namespaces, policies, key-value stores with their secrets, auth mounts of the type azure with their roles, and token
// roles from one server to another. Both may be Vault, OpenBao or this service. Needs Node 20 or newer and nothing else.
//
//   VAULT_ADDR=<old> VAULT_TOKEN=<token> node move.mjs export | VAULT_ADDR=<new> VAULT_TOKEN=<token> node move.mjs import
//
// VAULT_NAMESPACE selects the namespace to export from or to import into; those below it are included. The stream contains every
// secret as plain text: pipe it, or write it to a file that only you can read. Import continues where an earlier one has
// stopped, and changes no version that exists. What cannot be copied is reported on standard error.
//
// Import reads back everything, and counts what it read from the stream, what the server accepted and what it found as it was
// exported. It exits with 1, and lists what is missing or different, unless the three are the same and those that the export
// counted. The last line of the stream has these counts: without it, the export did not finish, and the import fails.
import { createInterface } from 'node:readline';

const { VAULT_ADDR: address = 'http://127.0.0.1:8200', VAULT_TOKEN: token = '' } = process.env;
const base = (process.env.VAULT_NAMESPACE ?? '').replace(/\/$/, '');
const join = (...parts) => parts.filter((part) => part !== '').join('/');
const encoded = (path) => path.split('/').map(encodeURIComponent).join('/');

/** Marks a number that JavaScript cannot represent digit for digit. It is kept as a text, which no value can equal. */
const mark = `number ${globalThis.crypto.randomUUID()} `;
const jsonToken = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const isExact = (text) => text.startsWith('"') || String(Number(text)) === text;
const parse = (text) =>
  JSON.parse(text.replace(jsonToken, (found) => (isExact(found) ? found : JSON.stringify(mark + found))));
const stringify = (value) => JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');

class Refused extends Error {
  constructor(method, path, status, { errors = [] } = {}) {
    super(`${method} ${path}: ${status} ${errors.join('; ')}`);
    this.status = status;
  }
}

/**
 * Sends a request, and returns the parsed body; undefined if what is read does not exist. Throws Refused for every other error.
 */
async function request(method, namespace, path, body) {
  const headers = { 'X-Vault-Token': token, 'X-Vault-Request': 'true' };
  const where = join(base, namespace);
  if (where !== '') headers['X-Vault-Namespace'] = where;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const content = body === undefined ? {} : { body: stringify(body) };
  const response = await fetch(`${address}/v1/${path}`, { method, headers, ...content });
  const text = await response.text();
  const answer = text === '' ? {} : parse(text);
  if (response.status === 404 && method === 'GET') return undefined;
  if (!response.ok) throw new Refused(method, join(where, path), response.status, answer);
  return answer;
}

const read = async (namespace, path) => (await request('GET', namespace, path))?.data;

/** The same for what must exist, because a list named it. */
async function readExisting(namespace, path) {
  const found = await read(namespace, path);
  if (found === undefined) throw new Error(`GET ${join(base, namespace, path)}: 404, although it was listed`);
  return found;
}

async function write(namespace, path, body) {
  const { warnings } = await request('POST', namespace, path, body);
  for (const warning of warnings ?? []) report(`warning: ${join(namespace, path)}: ${warning}`);
}

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
  'token_ttl',
  'token_max_ttl',
  'token_explicit_max_ttl',
  'token_period',
  'token_policies',
  'token_bound_cidrs',
  'token_no_default_policy',
  'token_num_uses',
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
      const { policy } = await readExisting(namespace, `sys/policies/acl/${encoded(name)}`);
      yield { kind: 'policy', namespace, name, policy };
    }
  for (const [path, mount] of Object.entries(await readExisting(namespace, 'sys/mounts')))
    yield* exportedMount(namespace, path.slice(0, -1), mount);
  for (const [path, mount] of Object.entries(await readExisting(namespace, 'sys/auth')))
    yield* exportedAuth(namespace, path.slice(0, -1), mount);
  for await (const name of list(namespace, 'auth/token/roles')) {
    const path = `auth/token/roles/${encoded(name)}`;
    const fields = picked(await readExisting(namespace, path), tokenRoleSettings);
    yield { kind: 'fields', namespace, path, fields };
  }
  for await (const name of list(namespace, 'sys/namespaces')) {
    const inner = join(namespace, name.replace(/\/$/, ''));
    const { custom_metadata } = await readExisting(namespace, `sys/namespaces/${name.replace(/\/$/, '')}`);
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
  const fields = picked(await readExisting(namespace, `${path}/config`), secretSettings);
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
  const metadata = await readExisting(namespace, `${mount}/metadata/${encoded(path)}`);
  const fields = { ...picked(metadata, secretSettings), custom_metadata: metadata.custom_metadata ?? {} };
  yield { kind: 'secret', namespace, mount, path, fields };
  const numbers = Object.keys(metadata.versions ?? {}).sort((a, b) => a - b);
  let index = 0;
  for (const number of numbers) {
    const { destroyed, deletion_time: deletion } = metadata.versions[number];
    if (destroyed || (deletion && new Date(deletion) <= new Date())) continue;
    const { data } = await readExisting(namespace, `${mount}/data/${encoded(path)}?version=${number}`);
    yield { kind: 'version', namespace, mount, path, index: index++, data };
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
    const fields = picked(await readExisting(namespace, role), azureRoleSettings);
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
    const at = join(namespace, mount, path);
    if (current.at !== at) throw new Refused('POST', at, 0, { errors: ['its metadata was not written'] });
    if (index < current.versions) return undefined;
    return write(namespace, `${mount}/data/${encoded(path)}`, { data, options: { cas: index } });
  },
};

// Reading back

/** A value in a form in which servers that write it differently can be compared: durations in seconds, sets in order. */
function comparable(value) {
  if (Array.isArray(value)) return JSON.stringify(value.map(comparable).sort());
  if (typeof value === 'object' && value !== null) return sorted(value);
  if (!value || value === '0') return '';
  const text = Object.hasOwn(clouds, value) ? clouds[value] : String(value);
  const units = text.match(/\d+(?:\.\d+)?(?:h|ms|m|s)/g) ?? [];
  if (units.length === 0 || units.join('') !== text) return text;
  const seconds = { h: 3600, m: 60, s: 1, ms: 0.001 };
  const total = units.reduce(
    (sum, unit) => sum + Number.parseFloat(unit) * seconds[unit.match(/[a-z]+/)[0]],
    0,
  );
  return total === 0 ? '' : String(total);
}

/** JSON with the names of objects in order. */
const sorted = (value) =>
  JSON.stringify(value, (_name, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const isEmpty = (value) => ['', '[]', '{}'].includes(comparable(value));
const sameValue = (one, other) => comparable(one) === comparable(other) || (isEmpty(one) && isEmpty(other));

/** Returns a sentence that names the fields whose value on the server differs, or undefined if none does. */
function difference(fields, found) {
  if (found === undefined) return 'it does not exist';
  const names = Object.keys(fields).filter((name) => !sameValue(fields[name], found[name]));
  return names.length === 0 ? undefined : `differs in ${names.join(', ')}`;
}

/** For each kind, what is missing or different on the server: a sentence, or undefined. */
const verifiers = {
  namespace: async ({ namespace, name, custom_metadata }) =>
    difference({ custom_metadata: custom_metadata ?? {} }, await read(namespace, `sys/namespaces/${name}`)),
  policy: async ({ namespace, name, policy }) => {
    const found = await read(namespace, `sys/policies/acl/${encoded(name)}`);
    return found?.policy === policy ? undefined : difference({ policy }, found);
  },
  mount: async ({ namespace, path }) => {
    const found = (await read(namespace, 'sys/mounts'))?.[`${path}/`];
    const isVersioned = found?.type === 'kv-v2' || String(found?.options?.version) === '2';
    return found === undefined || isVersioned ? difference({}, found) : 'the mount is of another type';
  },
  auth: async ({ namespace, path }) => {
    const found = (await read(namespace, 'sys/auth'))?.[`${path}/`];
    const isSame = ['azure', 'cloudB', undefined].includes(found?.type);
    return isSame ? difference({}, found) : 'the auth mount is of another type';
  },
  fields: async ({ namespace, path, fields }) => difference(fields, await read(namespace, path)),
  secret: async ({ namespace, mount, path, fields }) =>
    difference(fields, await read(namespace, `${mount}/metadata/${encoded(path)}`)),
  version: async ({ namespace, mount, path, index, data }) => {
    const found = await read(namespace, `${mount}/data/${encoded(path)}?version=${index + 1}`);
    if (!found?.data) return 'the version is missing';
    return sorted(found.data) === sorted(data) ? undefined : 'the version has another value';
  },
};

const nameOf = ({ kind, namespace, mount = '', name = '', path = '', index }) =>
  `${kind} ${join(namespace, mount, path, name)}${index === undefined ? '' : ` (${index + 1})`}`;

/** Imports an item, reads it back, and counts both. Returns what is wrong, or undefined. */
async function importItem(item, counts) {
  counts.read[item.kind] = (counts.read[item.kind] ?? 0) + 1;
  await importers[item.kind](item);
  counts.written[item.kind] = (counts.written[item.kind] ?? 0) + 1;
  const problem = await verifiers[item.kind](item);
  if (problem === undefined) counts.verified[item.kind] = (counts.verified[item.kind] ?? 0) + 1;
  return problem;
}

async function importAll() {
  const counts = { read: {}, written: {}, verified: {} };
  const missing = [];
  let end;
  for await (const line of createInterface({ input: process.stdin })) {
    if (end !== undefined) throw new Error('the stream goes on after its end');
    const item = parse(line);
    if (item.kind === 'end') end = item.counts;
    else {
      const problem = await importItem(item, counts).catch((error) => {
        if (error instanceof Refused) return error.message;
        throw error;
      });
      if (problem !== undefined) missing.push(`${nameOf(item)}: ${problem}`);
    }
  }
  for (const [what, byKind] of Object.entries({ exported: end ?? {}, ...counts }))
    report(`${what}: ${sorted(byKind)}`);
  for (const line of missing) report(`missing: ${line}`);
  if (end === undefined) throw new Error('the stream has no end: the export did not finish');
  if (Object.values(counts).some((byKind) => sorted(byKind) !== sorted(end)))
    throw new Error(`${missing.length} items are missing or different`);
}

async function exportAll() {
  const counts = {};
  for await (const item of exported('')) {
    counts[item.kind] = (counts[item.kind] ?? 0) + 1;
    console.log(stringify(item));
  }
  console.log(stringify({ kind: 'end', counts }));
}

const commands = { export: exportAll, import: importAll };
const command = commands[process.argv[2]];
if (command === undefined) {
  report('usage: node move.mjs export | node move.mjs import');
  process.exitCode = 2;
} else
  await command().catch((error) => {
    report(`failed: ${error.message}`);
    process.exitCode = 1;
  });
