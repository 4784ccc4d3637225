import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { withoutBudgets } from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Api, expectStatus, send } from '../../harness/http.ts';
import { useInstallation } from '../use-installation.ts';

Object.assign(process.env, withoutBudgets);
const system = useInstallation();
let token: string;
beforeAll(async () => {
  token = (await system.sandbox.store('codehost')).accessToken!;
});

/** The repository of a test, with two destinations that would take over whatever has their names. */
let repo: string;
let mount: string;

beforeEach(async () => {
  repo = `p-${randomBytes(4).toString('hex')}`;
  mount = `kv-${repo}`;
  await host('POST', '/orgs/acme/repos', { name: repo, private: true });
  await create('first');
  await create('second');
  await setUp(system.api);
});

async function host(method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `${system.sandboxUrl}/codehost${path}`;
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  expect(response.status).toBeLessThan(300);
}

/** Mounts a store with one secret. */
async function setUp(api: Api): Promise<void> {
  const options = { type: 'kv', options: { version: '2' } };
  expectStatus(await api('POST', `sys/mounts/${mount}`, options), 204);
  expectStatus(await api('POST', `${mount}/data/db`, { data: { value: 'one' } }), 200);
}

const pathOf = (name: string) => `sys/sync/destinations/codehost/${repo}-${name}`;

async function create(name: string, { api = system.api, repository = repo } = {}): Promise<void> {
  const fields = { access_token: token, repository_owner: 'acme', repository_name: repository };
  const naming = { granularity: 'secret-path', secret_name_template: `P_{{ .SecretPath | uppercase }}` };
  const answer = await api('POST', pathOf(name), { ...fields, ...naming, conflict_policy: 'overwrite' });
  expectStatus(answer, 200);
}

const associate = async (act: 'set' | 'remove', name: string, api = system.api) =>
  expectStatus(
    await api('POST', `${pathOf(name)}/associations/${act}?wait=0`, { mount, secret_name: 'db' }),
    200,
  );

/** Resolves with the reason once the association of the secret has this status. */
async function reaches(name: string, status: string, api = system.api): Promise<string> {
  const isReached = ({ sync_status }: { sync_status: string }) => sync_status === status;
  const look = async () => {
    const { body } = await api('GET', `${pathOf(name)}/associations`);
    return Object.values<{ sync_status: string; last_error: string | null }>(
      body.data?.associated_secrets ?? {},
    );
  };
  const [line] = await eventually(look, (lines) => lines.some(isReached));
  return line?.last_error ?? '';
}

const isGone = (name: string) =>
  eventually(
    async () => (await system.api('GET', `${pathOf(name)}/associations`)).body.data?.associated_secrets ?? {},
    (lines) => Object.keys(lines).length === 0,
  );

async function held(): Promise<string[]> {
  const { body } = await send(`${system.sandboxUrl}/_sandbox/stores?store=codehost`, 'GET');
  const { secrets } = body.stores.codehost as { secrets: { region: string; value: string }[] };
  return secrets.filter(({ region }) => region.includes(repo)).map(({ value }) => value);
}

test('of two destinations of a repository, the second one neither writes nor removes what the first one syncs', async () => {
  await associate('set', 'first');
  await reaches('first', 'SYNCED');
  await associate('set', 'second');
  const reason = await reaches('second', 'CLIENT_SIDE_ERROR');
  expect(reason).toContain(`"P_DB" is already synced to the same place by the destination "${repo}-first"`);
  await associate('remove', 'second');
  await isGone('second');
  expect(await held()).toEqual(['{"value":"one"}']);
  await reaches('first', 'SYNCED');
});

test.each([
  ['removed', () => associate('remove', 'first')],
  ['purged', () => system.api('DELETE', `${pathOf('first')}?purge=true`)],
  ['deleted by force', () => system.api('DELETE', `${pathOf('first')}?force_delete=true`)],
  ['unsynced, because no version is readable', unsync],
])('what was refused is synced once the external secret of the other destination is %s', async (_, end) => {
  await associate('set', 'first');
  await reaches('first', 'SYNCED');
  expectStatus(await system.api('POST', `${mount}/data/other`, { data: { value: 'two' } }), 200);
  const template = { secret_name_template: 'P_DB' };
  expectStatus(await system.api('PATCH', pathOf('second'), template), 200);
  const other = { mount, secret_name: 'other' };
  expectStatus(await system.api('POST', `${pathOf('second')}/associations/set?wait=0`, other), 200);
  await reaches('second', 'CLIENT_SIDE_ERROR');
  await end();
  await reaches('second', 'SYNCED');
  await eventually(held, (values) => values.join() === '{"value":"two"}');
});

async function unsync(): Promise<void> {
  expectStatus(await system.api('DELETE', `${mount}/data/db`), 204);
}

test('a repository that was renamed is the same place under its new name', async () => {
  await associate('set', 'first');
  await reaches('first', 'SYNCED');
  await host('PATCH', `/repos/acme/${repo}`, { name: `${repo}-new` });
  await create('renamed', { repository: `${repo}-new` });
  await associate('set', 'renamed');
  expect(await reaches('renamed', 'CLIENT_SIDE_ERROR')).toContain('already synced to the same place');
});

test('a reason does not name a destination of another namespace', async () => {
  expectStatus(await system.api('POST', `sys/namespaces/${repo}`), 200);
  const inNamespace: Api = (method, path, body) => system.api(method, `${repo}/${path}`, body);
  await setUp(inNamespace);
  await create('elsewhere', { api: inNamespace });
  await associate('set', 'first');
  await reaches('first', 'SYNCED');
  await associate('set', 'elsewhere', inNamespace);
  const reason = await reaches('elsewhere', 'CLIENT_SIDE_ERROR', inNamespace);
  expect(reason).toContain('by another destination of this installation');
  expect(reason).not.toContain(`${repo}-first`);
});
