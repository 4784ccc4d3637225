import { setInterval } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { type ConnectedDestination, ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CodehostHarness, startHarness, web } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const production = { ...web, environment_name: 'production' };
const organization = {
  secrets_location: 'organization',
  organization_name: 'acme',
  repository_owner: '',
  repository_name: '',
};

let harness: CodehostHarness;
let memory: string | null;
let open: ConnectedDestination[];
beforeEach(async () => {
  harness = await startHarness();
  memory = null;
  open = [];
});
afterEach(async () => {
  for (const connected of open) await connected.close();
  await harness.stop();
});

/** Connects as a worker that reads what is remembered from the database. */
async function connect(settings: object = web): Promise<ConnectedDestination> {
  const scope = new ScopeMemory(memory, async (id) => (memory ??= id));
  const connected = await harness.connectAs({ settings: { ...settings } }, scope);
  open.push(connected);
  return connected;
}

/** An entry with its value, as the runtime keeps it. */
async function synced(connected: ConnectedDestination, value = 'one') {
  const request = putRequest(harness.freshName(), value);
  const { remote } = await connected.put(request, signal());
  harness.calls();
  return { name: request.externalName, remote, next: { ...request, ...newValue(request, 'two'), remote } };
}

const places = (name: string) =>
  harness.sandbox.codehost
    .secrets()
    .filter((secret) => secret.name === name)
    .map(({ region, value }) => `${region}: ${value}`);
const rename = (name: string, owner = 'acme', repo = 'web') =>
  harness.stranger.rest.repos.update({ owner, repo, name });
const create = (name: string) =>
  harness.stranger.rest.repos.createInOrg({ org: 'acme', name, private: false });
const deleteWeb = () => harness.stranger.rest.repos.delete({ owner: 'acme', repo: 'web' });
const remove = (connected: ConnectedDestination, externalName: string, remote: Json) =>
  connected.remove({ entryId: 'e', externalName, remote, putStartedAt: null }, signal());

describe.each([
  ['the client that has written it', false],
  ['a new client', true],
])('a repository whose name is taken by another one: %s', (_, isNew) => {
  let connected: ConnectedDestination;
  let entry: Awaited<ReturnType<typeof synced>>;
  beforeEach(async () => {
    connected = await connect();
    entry = await synced(connected);
    await rename('renamed');
    await create('web');
    if (isNew) connected = await connect();
  });

  test('gets no value, neither an existing one nor a new one', async () => {
    const isNowAnother = {
      kind: 'rejected',
      message: expect.stringMatching(
        /^the repository acme\/web is now another repository \(ID 1004, was 1001\).*confirm-scope with "scope_id": "1004"/,
      ),
    };
    await expect(connected.put(entry.next, signal())).rejects.toMatchObject(isNowAnother);
    const fresh = putRequest(harness.freshName(), 'one');
    await expect(connected.put(fresh, signal())).rejects.toMatchObject(isNowAnother);
    expect(places(entry.name)).toEqual(['acme/renamed: one']);
    expect(places(fresh.externalName)).toEqual([]);
  });

  test('loses nothing by a removal, which deletes the secret of the renamed one', async () => {
    await remove(connected, entry.name, entry.remote);
    expect(places(entry.name)).toEqual([]);
  });
});

test('a renamed repository is followed, for new values, new secrets and removals', async () => {
  const connected = await connect();
  const { name, next, remote } = await synced(connected);
  await rename('renamed');
  for (const one of [connected, await connect()]) await one.put(next, signal());
  const fresh = await synced(connected, 'other');
  expect(places(name)).toEqual(['acme/renamed: two']);
  expect(places(fresh.name)).toEqual(['acme/renamed: other']);
  await remove(connected, name, remote);
  expect(places(name)).toEqual([]);
});

describe('a repository that was deleted and created again', () => {
  test('gets no value, and loses no secret of others by a removal', async () => {
    const connected = await connect();
    const { name, next, remote } = await synced(connected);
    await deleteWeb();
    await expect(connected.put(next, signal())).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('does not exist'),
    });
    await create('web');
    await harness.plantForeign(name, 'theirs');
    for (const one of [connected, await connect()]) {
      await expect(one.put(next, signal())).rejects.toMatchObject({ kind: 'rejected' });
      await remove(one, name, remote);
    }
    expect(places(name)).toEqual(['acme/web: theirs']);
  });

  test('once confirmed, gets the value, but not over a secret of others', async () => {
    const first = await connect();
    const entry = await synced(first);
    const foreign = await synced(first);
    await deleteWeb();
    await create('web');
    await harness.plantForeign(foreign.name, 'theirs');
    memory = '1004';
    const connected = await connect();
    const again = { ...entry.next, valueChanged: false, verify: true };
    await connected.put(again, signal());
    expect(places(entry.name)).toEqual(['acme/web: two']);
    await expect(connected.put(foreign.next, signal())).rejects.toMatchObject({ kind: 'conflict' });
    await remove(connected, foreign.name, foreign.remote);
    expect(places(foreign.name)).toEqual(['acme/web: theirs']);
  });
});

describe('an environment', () => {
  const at = { owner: 'acme', repo: 'web', environment_name: 'production' };

  test('is followed to its renamed repository', async () => {
    const connected = await connect(production);
    const { name, next, remote } = await synced(connected);
    expect(memory).toMatch(/^1001\/\d+$/);
    await rename('renamed');
    await connected.put(next, signal());
    expect(places(name)).toEqual(['acme/renamed, environment production: two']);
    await remove(connected, name, remote);
    expect(places(name)).toEqual([]);
  });

  test('of another repository that has the name, or that was created again, gets no value', async () => {
    const connected = await connect(production);
    const { name, next, remote } = await synced(connected);
    await harness.stranger.rest.repos.deleteAnEnvironment(at);
    await harness.stranger.rest.repos.createOrUpdateEnvironment(at);
    for (const one of [connected, await connect(production)])
      await expect(one.put(next, signal())).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringMatching(
          /^the environment "production" of acme\/web is now another environment/,
        ),
      });
    expect(places(name)).toEqual([]);
    await remove(connected, name, remote);
    await rename('renamed');
    await create('web');
    await harness.stranger.rest.repos.createOrUpdateEnvironment(at);
    await expect(connected.put(next, signal())).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('that the credentials may not read is known by its repository', async () => {
    harness.sandbox.codehost.faults.add({
      ...{ effect: 'error', operation: 'getEnvironment', status: 403, code: 'X', message: 'x' },
    });
    const connected = await connect(production);
    const { next } = await synced(connected);
    expect(memory).toBe('1001');
    await connected.put(next, signal());
    await rename('renamed');
    await create('web');
    await expect(connected.put(next, signal())).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('an organization', () => {
  test('that was renamed is followed, until another one has its name', async () => {
    const connected = await connect(organization);
    const { name, next, remote } = await synced(connected);
    harness.sandbox.codehost.renameOrganization('acme', 'renamed');
    await connected.put(next, signal());
    expect(places(name)).toEqual(['organization renamed: two']);
    harness.sandbox.codehost.createOrganization('acme');
    for (const one of [connected, await connect(organization)]) {
      await expect(one.put(next, signal())).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringMatching(/^the organization acme is now another organization/),
      });
      await remove(one, name, remote);
    }
    expect(places(name)).toEqual([]);
  });
});

test('a write costs one conditional request, which is not counted', async () => {
  const connected = await connect();
  const { next } = await synced(connected);
  const used = async () =>
    Number((await harness.stranger.request('GET /repos/acme/api')).headers['x-ratelimit-used']);
  const before = await used();
  harness.allCalls();
  await connected.put(next, signal());
  const calls = harness.allCalls();
  expect([...calls.slice(0, -1).sort(), ...calls.slice(-1)]).toEqual([
    'getRepoSecret',
    'getRepository',
    'createOrUpdateRepoSecret',
  ]);
  expect((await used()) - before).toBe(3); // the look, the write, and this test's own read
});

test('a put looks at the secret while it checks the repository, and writes only after both', async () => {
  const connected = await connect();
  const { name, next } = await synced(connected);
  harness.sandbox.codehost.faults.add({ effect: 'silence', operation: 'getRepository' });
  harness.allCalls();
  const attempt = new AbortController();
  const put = expect(connected.put(next, attempt.signal)).rejects.toMatchObject({ kind: 'unavailable' });
  const calls: string[] = [];
  for await (const _ of setInterval(10)) {
    calls.push(...harness.allCalls());
    if (calls.includes('getRepoSecret')) break;
  }
  attempt.abort();
  await put;
  expect(places(name)).toEqual(['acme/web: one']);
});

test('a server that does not know repositories by their ID is addressed by name, as long as that is the same one', async () => {
  harness.sandbox.codehost.faults.add({
    ...{ effect: 'error', operation: 'getRepositoryById', status: 404, code: 'X', message: 'x' },
  });
  const connected = await connect();
  const { next, name } = await synced(connected);
  await connected.put(next, signal());
  expect(places(name)).toEqual(['acme/web: two']);
});
