import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ConnectedDestination, type ScopeIds, ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CodehostHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const selecting = (...selected_repository_names: string[]) => ({
  secrets_location: 'organization',
  organization_name: 'acme',
  repository_owner: '',
  repository_name: '',
  organization_visibility: 'selected',
  selected_repository_names,
});

let harness: CodehostHarness;
let scopeId: string | null;
let members: ScopeIds;
let open: ConnectedDestination[];
beforeEach(async () => {
  harness = await startHarness();
  scopeId = null;
  members = {};
  open = [];
});
afterEach(async () => {
  for (const connected of open) await connected.close();
  await harness.stop();
});

/** Connects as a worker that reads what is remembered from the database. */
async function connect(...names: string[]): Promise<ConnectedDestination> {
  const record = async (id: string) => (scopeId ??= id);
  const recordMembers = async (seen: ScopeIds) => {
    members = Object.fromEntries(Object.entries(seen).map(([name, id]) => [name, members[name] ?? id]));
    return members;
  };
  const scope = new ScopeMemory(scopeId, record, { known: members, record: recordMembers });
  const connected = await harness.connectAs({ settings: selecting(...names) }, scope);
  open.push(connected);
  return connected;
}

const rename = (repo: string, name: string) =>
  harness.stranger.rest.repos.update({ owner: 'acme', repo, name });
const create = (name: string) => harness.stranger.rest.repos.createInOrg({ org: 'acme', name });
const held = (name: string) => harness.held(name, 'organization acme');

describe('a repository that took the name of a selected one', () => {
  const request = putRequest('FIRST', 'one');

  test.each([
    ['renamed', () => rename('web', 'site')],
    ['deleted', () => harness.stranger.rest.repos.delete({ owner: 'acme', repo: 'web' })],
  ])('gets no secret, neither a known one nor a new one: the selected one was %s', async (_, make) => {
    const { remote } = await (await connect('WEB', 'api')).put(request, signal());
    const { web } = members;
    await make();
    await create('web');
    const connected = await connect('WEB', 'api');
    const isAnother = {
      kind: 'rejected',
      message: expect.stringMatching(
        new RegExp(
          `^selected_repository_names: WEB of the organization acme is now another repository .ID 1004, was ${web}.*confirm-scope with "scope_id": "${scopeId}"`,
        ),
      ),
    };
    const next = { ...request, ...newValue(request, 'two'), remote };
    await expect(connected.put(next, signal())).rejects.toMatchObject(isAnother);
    await expect(connected.put(putRequest('SECOND', 'x'), signal())).rejects.toMatchObject(isAnother);
    expect([held('FIRST')?.value, held('SECOND')]).toEqual(['one', undefined]);
  });

  test('is accepted once what was remembered of the names is forgotten', async () => {
    await (await connect('web')).put(request, signal());
    await rename('web', 'site');
    await create('web');
    members = {};
    await (await connect('web')).put(putRequest('SECOND', 'x'), signal());
    expect(held('SECOND')?.tags.repositories).toBe('web');
  });

  test('is accepted if its name was taken out of the list, and added again later', async () => {
    await (await connect('web')).put(request, signal());
    await rename('web', 'site');
    await create('web');
    await (await connect('api')).put(putRequest('SECOND', 'x'), signal());
    await (await connect('api', 'web')).put(putRequest('THIRD', 'x'), signal());
    expect(held('THIRD')?.tags.repositories).toBe('api, web');
  });
});

test('a selected repository that was renamed is followed', async () => {
  await (await connect('web', 'api')).put(putRequest('FIRST', 'one'), signal());
  await rename('web', 'site');
  await (await connect('web', 'api')).put(putRequest('SECOND', 'x'), signal());
  expect(held('SECOND')?.tags.repositories).toBe('site, api');
});
