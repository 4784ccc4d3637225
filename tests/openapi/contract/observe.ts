import { type Api, expectStatus } from '../../harness/http.ts';
import { type Fields, operationName } from './published-api.ts';

/** Makes requests whose responses a server of this API does not describe, and returns the fields of each. */
export async function observed(api: Api): Promise<Record<string, Fields>> {
  const found: Record<string, Fields> = {};
  const call = async (operation: string, values: Record<string, string> = {}, body?: unknown) => {
    const [verb = '', path = ''] = operation.split(' ');
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
    const { body: answer } = expectStatus(await api(verb, filled, body), 200);
    found[operationName(verb, `/${path.replace(/\?.*/, '')}`)] = fieldsOf(answer.data ?? answer.auth);
    return answer.data ?? answer.auth;
  };
  await api('POST', 'sys/auth/userpass', { type: 'userpass' });
  const { accessor } = (await api('GET', 'sys/auth')).body.data['userpass/'];
  await entities(call, accessor);
  await groups(call, accessor);
  await tokens(api, call);
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever is returned
type Call = (operation: string, values?: Record<string, string>, body?: unknown) => Promise<any>;

async function entities(call: Call, mount_accessor: string): Promise<void> {
  const { id } = await call('POST identity/entity', {}, { name: 'worker', metadata: { team: 'a' } });
  const alias = { name: 'ann', mount_accessor, canonical_id: id, custom_metadata: { team: 'a' } };
  const { id: aliasId } = await call('POST identity/entity-alias', {}, alias);
  await call('GET identity/entity/id/{id}', { id });
  await call('GET identity/entity/name/{name}', { name: 'worker' });
  await call('GET identity/entity/id?list=true');
  await call('GET identity/entity/name?list=true');
  await call('GET identity/entity-alias/id/{id}', { id: aliasId });
  await call('GET identity/entity-alias/id?list=true');
  await call('POST identity/lookup/entity', {}, { name: 'worker' });
}

async function groups(call: Call, mount_accessor: string): Promise<void> {
  const { id } = await call('POST identity/group', {}, { name: 'admins', type: 'external' });
  const alias = { name: 'admins', mount_accessor, canonical_id: id };
  const { id: aliasId } = await call('POST identity/group-alias', {}, alias);
  await call('GET identity/group/id/{id}', { id });
  await call('GET identity/group/name/{name}', { name: 'admins' });
  await call('GET identity/group/id?list=true');
  await call('GET identity/group/name?list=true');
  await call('GET identity/group-alias/id/{id}', { id: aliasId });
  await call('GET identity/group-alias/id?list=true');
  await call('POST identity/lookup/group', {}, { name: 'admins' });
}

async function tokens(api: Api, call: Call): Promise<void> {
  await api('POST', 'auth/token/roles/shop', { token_period: '1h', token_bound_cidrs: ['127.0.0.0/8'] });
  await call('GET auth/token/roles/{name}', { name: 'shop' });
  await call('GET auth/token/roles?list=true');
  await call('GET auth/token/accessors?list=true');
  await call('POST auth/token/create/{role}', { role: 'shop' }, { policies: ['default'] });
  const { accessor } = await call('POST auth/token/create', {}, { policies: ['default'], ttl: '1h' });
  await call('POST auth/token/renew-accessor', {}, { accessor });
  await call('POST sys/capabilities-self', {}, { paths: ['a'] });
  await call('GET sys/mounts');
  await call('GET sys/auth');
}

/** Maps of names that are chosen are left out. */
function fieldsOf(data: Record<string, unknown>): Fields {
  return Object.fromEntries(
    Object.entries(data)
      .filter(([name]) => !name.endsWith('/') && name !== 'a')
      .map(([name, value]) => [name, typeOfValue(value)]),
  );
}

/** A value that is null has no known type. */
function typeOfValue(value: unknown): string {
  if (value === null) return 'any';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
