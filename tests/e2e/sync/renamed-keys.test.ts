import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sandboxTypes, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually, eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { longTest } from '../../harness/run-size.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterAll(() => system?.stop());

/** A mount with one secret, and a destination whose external secrets are of its keys. */
async function associated(type: string, data: object, fields: object = {}) {
  const { api, sandbox } = system;
  const tag = randomBytes(4).toString('hex');
  const path = `sys/sync/destinations/${type}/d-${tag}`;
  const write = async (content: object) =>
    expectStatus(await api('POST', `kv-${tag}/data/s`, { data: content }), 200);
  const lines = async () => {
    const read = associatedSecrets(await api('GET', `${path}/associations`));
    return Object.fromEntries(
      Object.entries(read).map(([name, line]) => [name.slice(name.lastIndexOf('/') + 1), line]),
    );
  };
  const statuses = async () =>
    Object.fromEntries(Object.entries(await lines()).map(([key, line]) => [key, line.sync_status]));
  expectStatus(await api('POST', `sys/mounts/kv-${tag}`, { type: 'kv', options: { version: '2' } }), 204);
  const own = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  expectStatus(await api('POST', path, { ...own, granularity: 'secret-key', ...fields }), 200);
  await write(data);
  expectStatus(await api('POST', `${path}/associations/set`, { mount: `kv-${tag}`, secret_name: 's' }), 200);
  const isSynced = (all: object) => Object.values(all).every((status) => status === 'SYNCED');
  await eventually(statuses, isSynced, 200_000); // a hundred of them, one after the other
  return { path, tag, write, lines, statuses };
}

const removals = ['deleteOrgSecret', 'deleteRepoSecret', 'removeProjectEnv', 'DeleteSecret'];
const countRemovals = async (type: string) =>
  (await system.sandbox.calls(type)).filter(({ operation }) => removals.includes(operation)).length;

describe.each(['codehost', 'webhost-project', 'cloudB-kv'])('a key of %s', (type) => {
  test.each([
    ['Pass', 'PASS'],
    ['a-b', 'a.b'],
  ])(
    'that is renamed from %s to %s, which have one external name, is never missing there',
    async (before, after) => {
      const { write, lines, statuses } = await associated(type, { [before]: 'one' });
      const { external_name: name } = (await lines())[before]!;
      const removed = await countRemovals(type);
      await write({ [after]: 'two' });
      await eventuallyEqual(statuses, { [after]: 'SYNCED' });
      expect((await lines())[after]!.external_name).toBe(name);
      expect((await system.sandbox.find(type, name))?.value).toBe('two');
      expect(await countRemovals(type)).toBe(removed);
    },
  );
});

/**
 * Maximum total size of the variables of a deployment
 * (https://vercel.com/docs/environment-variables#environment-variable-size).
 */
const maxDeploymentBytes = 65_536;

/** Adds a variable that somebody else has, so that this many bytes are left. Returns what removes it. */
async function fillProject(left: number): Promise<() => Promise<unknown>> {
  const { accessToken, projectId } = await system.sandbox.store('webhost-project');
  const send = async (method: string, path: string, body?: object) => {
    const url = `${system.sandboxUrl}/webhost${path}`;
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    expect(response.ok).toBe(true);
    return (await response.json()) as { created?: { id: string } };
  };
  const key = 'FILLER';
  const value = 'x'.repeat(maxDeploymentBytes - key.length - left);
  const target = ['production', 'preview', 'development'];
  const { created } = await send('POST', `/v10/projects/${projectId}/env`, {
    key,
    value,
    type: 'plain',
    target,
  });
  return () => send('DELETE', `/v9/projects/${projectId}/env/${created!.id}`);
}

test('in a full project, a renamed key keeps its old name until there is room for the new one', async () => {
  const names = { secret_name_template: 'N{{ .SecretKey | uppercase }}' };
  const at = await associated('webhost-project', { old: 'one' }, names);
  const empty = await fillProject((await used()) + 'NFRESH'.length + 'two'.length - 1);
  await at.write({ fresh: 'two' });
  await eventually(at.statuses, ({ fresh }) => fresh === 'CLIENT_SIDE_ERROR');
  const { last_error: error, next_attempt_at: next } = (await at.lines()).fresh!;
  expect([error, next]).toEqual([expect.stringMatching(/accepts at most 65536/), expect.any(String)]);
  expect(await renamed()).toEqual(['NOLD']);
  await empty();
  await at.write({ fresh: 'three' });
  await eventuallyEqual(at.statuses, { fresh: 'SYNCED' });
  expect(await renamed()).toEqual(['NFRESH']);
});

test('in a full project, a renamed secret is never missing, gets new values, and moves once there is room', async () => {
  const named = (name: string) => ({ granularity: 'secret-path', secret_name_template: name });
  const at = await associated('webhost-project', { value: 'one' }, named('BEFORE'));
  const empty = await fillProject((await used()) + json('two').length);
  expectStatus(await system.api('PATCH', at.path, named('AFTER')), 200);
  const set = { mount: `kv-${at.tag}`, secret_name: 's' };
  expectStatus(await system.api('POST', `${at.path}/associations/set`, set), 200);
  await eventuallyEqual(at.statuses, { s: 'CLIENT_SIDE_ERROR' });
  await at.write({ value: 'two' });
  await eventuallyEqual(async () => (await moved()).BEFORE, json('two'));
  expect(Object.keys(await moved())).toEqual(['BEFORE']);
  await empty();
  await at.write({ value: 'three' });
  await eventuallyEqual(moved, { AFTER: json('three') });
});

/** An account holds too many secrets to fill it here, so its refusal is injected. */
test('in a full account, a renamed key keeps its old name until a removal makes room for the new one, and is never missing', async () => {
  const [before, after] = ['account/old', 'account/fresh'] as const;
  const held = () =>
    Promise.all([before, after].map(async (name) => (await system.sandbox.find('cloudA-sm', name))?.value));
  const at = await associated(
    'cloudA-sm',
    { old: 'one' },
    { secret_name_template: 'account/{{ .SecretKey }}' },
  );
  const other = { mount: `kv-${at.tag}`, secret_name: 'other' };
  expectStatus(await system.api('POST', `kv-${at.tag}/data/other`, { data: { other: 'one' } }), 200);
  expectStatus(await system.api('POST', `${at.path}/associations/set`, other), 200);
  await eventuallyEqual(at.statuses, { old: 'SYNCED', other: 'SYNCED' });
  const refused = { operation: 'CreateSecret', code: 'LimitExceededException', status: 400 };
  const full = await system.sandbox.fault({ store: 'cloudA-sm', effect: 'error', ...refused });
  await at.write({ fresh: 'two' });
  await eventually(at.statuses, ({ fresh }) => fresh === 'CLIENT_SIDE_ERROR');
  const { last_error: error, next_attempt_at: next } = (await at.lines()).fresh!;
  expect([error, next]).toEqual([expect.stringMatching(/a quota of the account/), expect.any(String)]);
  expect(await held()).toEqual(['one', undefined]);
  await full.remove();
  expectStatus(await system.api('POST', `${at.path}/associations/remove`, other), 200);
  await eventuallyEqual(at.statuses, { fresh: 'SYNCED' }, 50_000); // the slow retry would be later
  await eventuallyEqual(held, [undefined, 'two']);
});

/**
 * The places of a code host that hold few secrets
 * (https://docs.github.com/en/actions/reference/security/secrets#limits-for-secrets,
 * https://docs.github.com/en/codespaces/managing-codespaces-for-your-organization/managing-development-environment-secrets-for-your-repository-or-organization#limits-for-secrets).
 */
const maxSecrets = 100;
const noOrganization = { organization_name: '', repository_owner: 'acme' };
const places: Record<string, object> = {
  repository: { ...noOrganization, secrets_location: 'repository', repository_name: 'api' },
  environment: {
    ...noOrganization,
    secrets_location: 'environment',
    repository_name: 'web',
    environment_name: 'staging',
  },
  organization: { secrets_app: 'codespaces' },
};

// Filling one takes long.
longTest.each(Object.entries(places))(
  'in a full %s, a renamed key keeps its old name until there is room for the new one, and is never missing',
  async (place, fields) => {
    const names = { secret_name_template: `${place.toUpperCase()}_{{ .SecretKey | uppercase }}` };
    const key = (number: number) => `k${number}`;
    const all = Object.fromEntries(Array.from({ length: maxSecrets }, (_, at) => [key(at), 'one']));
    const { [key(0)]: _old, ...kept } = all;
    const { [key(1)]: _gone, ...fewer } = kept;
    const [before, after] = ['K0', 'FRESH'].map((name) => `${place.toUpperCase()}_${name}`) as [
      string,
      string,
    ];
    const held = async () =>
      Promise.all([before, after].map(async (name) => (await system.sandbox.find('codehost', name))?.value));
    const at = await associated('codehost', all, { ...fields, ...names });
    await at.write({ ...kept, fresh: 'two' });
    await eventually(at.statuses, ({ fresh }) => fresh === 'CLIENT_SIDE_ERROR');
    const { last_error: error, next_attempt_at: next } = (await at.lines()).fresh!;
    expect([error, next]).toEqual([expect.stringMatching(/already has 100 secrets/), expect.any(String)]);
    expect(await held()).toEqual(['one', undefined]);
    await at.write({ ...fewer, fresh: 'three' });
    await eventuallyEqual(held, [undefined, 'three']);
    const about = (await system.sandbox.calls('codehost'))
      .filter(
        ({ name, outcome }) => [before, after].includes(name ?? '') && [201, 204].includes(Number(outcome)),
      )
      .map(({ operation, name }) => `${operation.replace(/[A-Z].*/, '')} ${name}`);
    expect([...new Set(about)]).toEqual([`create ${before}`, `create ${after}`, `delete ${before}`]);
    await eventuallyEqual(at.statuses, statusesOf({ ...fewer, fresh: 'three' }));
  },
);

const statusesOf = (data: object) => Object.fromEntries(Object.keys(data).map((name) => [name, 'SYNCED']));
const json = (value: string) => JSON.stringify({ value });
const moved = async () => {
  const { BEFORE, AFTER } = await system.sandbox.contents('webhost-project');
  return { ...(BEFORE && { BEFORE }), ...(AFTER && { AFTER }) };
};
const renamed = async () => (await contents()).filter((name) => /^N(OLD|FRESH)$/.test(name)).sort();
const contents = async () => Object.keys(await system.sandbox.contents('webhost-project'));
/** Returns the size of the names and values of the project, in bytes. */
const used = async () =>
  Object.entries(await system.sandbox.contents('webhost-project')).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  );
