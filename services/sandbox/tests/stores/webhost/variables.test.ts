import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../../src/sandbox.ts';
import { failure, variable, webhostSdk } from './webhost-harness.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ webhost: { pageSize: 3 } });
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.reset());

const sdk = () => webhostSdk(sandbox);
const projectOf = (name: string) => sandbox.webhost.projects.find((project) => project.name === name)!;
const targets = (key: string) =>
  sandbox.webhost
    .secrets()
    .filter(({ name }) => name === key)
    .map(({ tags }) => `${tags.type}: ${tags.target}`)
    .sort();

describe('refusals', () => {
  test('a token that is missing or wrong is 403 forbidden, marked in the error', async () => {
    await expect(webhostSdk(sandbox, { token: 'wrong' }).list()).rejects.toMatchObject({
      statusCode: 403,
      body: expect.stringContaining('"invalidToken":true'),
    });
    const { id } = projectOf('sandbox');
    const response = await fetch(`${sandbox.webhostUrl}/v10/projects/${id}/env`);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'forbidden', missingToken: true } });
  });

  test('webhost-project 7: a team of others is 403, and a project that is not in the team is 404', async () => {
    const [own, inTeam] = [projectOf('sandbox'), projectOf('sandbox-team')];
    const elsewhere = (project: object) => webhostSdk(sandbox, { project: { ...own, ...project } }).list();
    await expect(elsewhere({ teamId: 'team_of_others' })).rejects.toMatchObject(failure(403, 'forbidden'));
    await expect(elsewhere({ teamId: inTeam.teamId })).rejects.toMatchObject(failure(404, 'not_found'));
    await expect(elsewhere({ id: inTeam.id })).rejects.toMatchObject(failure(404, 'not_found'));
    expect((await webhostSdk(sandbox, { project: inTeam }).list()).envs).toEqual([]);
  });

  test.each<[string, object]>([
    ['a name with other characters', { key: 'A-B' }],
    ['a name that begins with a digit', { key: '1A' }],
    ['a reserved name', { key: 'AWS_SECRET_KEY' }],
    ['no target', { target: [] }],
    ['a sensitive variable for development', { type: 'sensitive', target: ['development'] }],
    ['a branch without preview', { gitBranch: 'feature', target: ['production'] }],
    ['the production branch', { gitBranch: 'main', target: ['preview'] }],
    ['a custom environment that does not exist', { customEnvironmentIds: ['env_none'] }],
  ])('%s is a bad request', async (_, over) => {
    await expect(sdk().create(variable('A', over))).rejects.toMatchObject(failure(400, 'BAD_REQUEST'));
  });

  test.each<[string, object, string]>([
    ['a name of 257 characters', { key: 'A'.repeat(257) }, 'env_key_invalid_length'],
    ['a value of more than 64 KB', { value: 'x'.repeat(65_537) }, 'env_value_invalid_length'],
  ])('%s is refused', async (_, over, code) => {
    await expect(sdk().create(variable('A', over))).rejects.toMatchObject(failure(400, code));
  });

  test('a field that the API does not know is a bad request', async () => {
    const { accessToken, projectId } = sandbox.credentials.webhost;
    const response = await fetch(`${sandbox.webhostUrl}/v10/projects/${projectId}/env`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...variable('A'), labels: {} }),
    });
    expect(response.status).toBe(400);
  });

  test('webhost-project 3: a variable that does not exist is 404', async () => {
    const { get, edit, remove } = sdk();
    for (const call of [get, remove, (id: string) => edit(id, { value: 'x' })])
      await expect(call('none')).rejects.toMatchObject(failure(404, 'not_found'));
  });

  test('webhost-project 8: a throttled call names the end of its window', async () => {
    sandbox.webhost.faults.add({ effect: 'throttle' });
    const { accessToken, projectId } = sandbox.credentials.webhost;
    const response = await fetch(`${sandbox.webhostUrl}/v10/projects/${projectId}/env`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(response.status).toBe(429);
    expect(response.headers.has('retry-after')).toBe(false);
    const left = Number(response.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    expect(left).toBeGreaterThan(55);
    expect(left).toBeLessThanOrEqual(61);
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limited', limit: { remaining: 0 } } });
  });
});

describe('webhost-project 2: a key has one value in an environment', () => {
  test('a record that overlaps another one is ENV_CONFLICT, and one for other environments is not', async () => {
    await sdk().create(variable('A', { target: ['production'] }));
    await expect(sdk().create(variable('A'))).rejects.toMatchObject(failure(400, 'ENV_CONFLICT'));
    const { created } = await sdk().create(variable('A', { target: ['preview'] }));
    await expect(sdk().edit(created.id, { target: ['preview', 'production'] })).rejects.toMatchObject(
      failure(400, 'ENV_CONFLICT'),
    );
    expect(targets('A')).toEqual(['encrypted: preview', 'encrypted: production']);
  });

  test('a branch has a value of its own', async () => {
    await sdk().create(variable('A'));
    await sdk().create(variable('A', { target: ['preview'], gitBranch: 'feature' }));
    expect(targets('A')).toHaveLength(2);
  });

  test('upsert replaces the value of the record with the same environments only', async () => {
    const { created } = await sdk().create(variable('A'));
    const upserted = await sdk().create(variable('A', { value: 'two' }), { upsert: 'true' });
    expect(upserted.created.id).toBe(created.id);
    const wider = variable('A', { target: ['production', 'preview', 'development'] });
    await expect(sdk().create(wider, { upsert: 'true' })).rejects.toMatchObject(failure(400, 'ENV_CONFLICT'));
  });
});

describe('the names and values of an environment together', () => {
  const sized = (key: string, bytes: number, over: object = {}) =>
    variable(key, { value: 'x'.repeat(bytes - key.length), ...over });
  const noRoom = { statusCode: 400, body: expect.stringContaining('project document is too large') };

  test('have at most 65,536 bytes: a creation beyond is refused', async () => {
    await sdk().create(sized('A', 40_000));
    await expect(sdk().create(sized('B', 25_537))).rejects.toMatchObject(noRoom);
    expect(targets('B')).toEqual([]);
    await sdk().create(sized('B', 25_536));
    await expect(sdk().create(variable('C', { value: '' }))).rejects.toMatchObject(noRoom);
  });

  test('have at most 65,536 bytes: a change beyond is refused, and leaves the value', async () => {
    const { created } = await sdk().create(sized('A', 40_000));
    await sdk().create(sized('B', 20_000));
    const changed = sdk().edit(created.id, { value: 'y'.repeat(50_000) });
    await expect(changed).rejects.toMatchObject(noRoom);
    expect((await sdk().get(created.id)).value).toBe('x'.repeat(39_999));
  });

  test('have room again after a removal', async () => {
    const { created } = await sdk().create(sized('A', 60_000));
    await expect(sdk().create(sized('B', 60_000))).rejects.toMatchObject(noRoom);
    await sdk().remove(created.id);
    await sdk().create(sized('B', 60_000));
  });

  test('are counted in each environment on its own, with the value of a branch in place of that for all', async () => {
    await sdk().create(sized('A', 60_000));
    await sdk().create(sized('B', 60_000, { target: ['development'] }));
    await sdk().create(sized('A', 60_000, { target: ['preview'], gitBranch: 'feature' }));
    const wider = sized('C', 10_000, { target: ['production', 'development'] });
    await expect(sdk().create(wider)).rejects.toMatchObject(noRoom);
  });
});

test('webhost-project 1: a 201 for several variables lists those that failed', async () => {
  await sdk().create(variable('A', { target: ['development'] }));
  const { created, failed } = await sdk().create([variable('A'), variable('A', { target: ['development'] })]);
  expect(created).toMatchObject([{ key: 'A', target: ['production', 'preview'] }]);
  expect(failed).toMatchObject([{ error: { code: 'ENV_CONFLICT' } }]);
});

describe('webhost-project 4: types', () => {
  test('values are shown according to their type', async () => {
    for (const type of ['plain', 'encrypted', 'sensitive'] as const)
      await sdk().create(variable(type, { type, value: 'canary' }));
    const shown = (envs: { key: string; value: string }[]) =>
      Object.fromEntries(envs.map(({ key, value }) => [key, value]));
    const values = shown((await sdk().list()).envs);
    expect(values).toMatchObject({ plain: 'canary', sensitive: '' });
    expect(values.encrypted).not.toContain('canary');
    expect(shown((await sdk().list({ decrypt: 'true' })).envs)).toEqual({
      plain: 'canary',
      encrypted: 'canary',
      sensitive: '',
    });
  });

  test('a sensitive variable stays sensitive, and cannot be set for development', async () => {
    const plain = await sdk().create(variable('B'));
    await expect(sdk().edit(plain.created.id, { type: 'sensitive' })).rejects.toMatchObject(
      failure(400, 'BAD_REQUEST'),
    );
    const { created } = await sdk().create(variable('A', { type: 'sensitive' }));
    for (const change of [{ type: 'encrypted' }, { target: ['production', 'development'] }] as const)
      await expect(sdk().edit(created.id, change as object)).rejects.toMatchObject(
        failure(400, 'BAD_REQUEST'),
      );
    expect(await sdk().edit(created.id, { value: 'two' })).toMatchObject({ type: 'sensitive', value: '' });
  });

  test('a team that enforces sensitive variables changes the type, and refuses to mix them with development', async () => {
    const strict = webhostSdk(sandbox, { project: projectOf('sandbox-strict') });
    expect((await strict.create(variable('A'))).created.type).toBe('sensitive');
    expect((await strict.create(variable('A', { target: ['development'] }))).created.type).toBe('encrypted');
    const mixed = variable('B', { target: ['development', 'production'] });
    await expect(strict.create(mixed)).rejects.toMatchObject(failure(400, 'BAD_REQUEST'));
  });
});

test('webhost-project 5: the target of a record can change, and its ID stays', async () => {
  const { created } = await sdk().create(variable('A'));
  const edited = await sdk().edit(created.id, { target: ['development'], comment: 'moved' });
  expect(edited).toMatchObject({ id: created.id, target: ['development'], comment: 'moved' });
  expect(edited.updatedAt).toBeGreaterThan(created.updatedAt);
});

test('webhost-project 6: variables of the system and of integrations cannot be changed', async () => {
  for (const over of [{ type: 'system' }, { configurationId: 'icfg_1' }] as const) {
    const { id } = sandbox.webhost.plant({ key: 'A', value: 'x', ...over });
    await expect(sdk().edit(id, { value: 'y' })).rejects.toMatchObject(failure(403, 'forbidden'));
    await expect(sdk().remove(id)).rejects.toMatchObject(failure(403, 'forbidden'));
    sandbox.reset();
  }
});

describe('webhost-project 7: pages', () => {
  test('a page names the beginning of the next one', async () => {
    for (const key of ['A', 'B', 'C', 'D']) await sdk().create(variable(key));
    const first = await sdk().list();
    expect(first.envs.map(({ key }) => key)).toEqual(['D', 'C', 'B']);
    const { accessToken, projectId } = sandbox.credentials.webhost;
    const url = `${sandbox.webhostUrl}/v10/projects/${projectId}/env?until=${first.pagination.next}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
    expect(await response.json()).toMatchObject({ envs: [{ key: 'A' }], pagination: { next: null } });
  });

  test('a role without access to production learns how many variables it does not see', async () => {
    const hidden = { id: 'prj_hidden', name: 'hidden', hidesProduction: true };
    const own = await startSandbox({ webhost: { projects: [hidden] } });
    own.webhost.plant({ key: 'A', value: 'x' });
    own.webhost.plant({ key: 'B', value: 'x', target: ['development'] });
    const { accessToken } = own.credentials.webhost;
    const response = await fetch(`${own.webhostUrl}/v10/projects/prj_hidden/env`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await response.json()).toMatchObject({ envs: [{ key: 'B' }], hiddenProductionEnvCount: 1 });
    await own.stop();
  });
});

test('webhost-project 9: a removed variable is gone, and its key is free', async () => {
  const { created } = await sdk().create(variable('A'));
  await sdk().remove(created.id);
  await sdk().create(variable('A'));
  expect(targets('A')).toHaveLength(1);
});

test('a stale list shows removed variables and not yet new ones', async () => {
  let ahead = 0;
  const own = await startSandbox({ clock: () => Date.now() + ahead });
  const { create, list, remove } = webhostSdk(own);
  const { created } = await create(variable('A'));
  ahead = 7_200_000;
  await remove(created.id);
  await create(variable('B'));
  own.webhost.faults.add({ effect: 'stale-list', ms: 600_000 });
  expect((await list()).envs.map(({ key }) => key)).toEqual(['A']);
  await own.stop();
});

test('variables survive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhost-'));
  const dataFile = join(folder, 'sandbox.jsonl');
  const before = await startSandbox({ dataFile });
  const { created } = await webhostSdk(before).create(variable('A'));
  const { created: other } = await webhostSdk(before).create(variable('B'));
  await webhostSdk(before).edit(created.id, { value: 'two', comment: 'note' });
  await webhostSdk(before).remove(other.id);
  await before.stop();
  const after = await startSandbox({ dataFile });
  expect(after.webhost.secrets()).toMatchObject([
    { name: 'A', value: 'two', version_count: 2, tags: { comment: 'note' } },
  ]);
  expect(await webhostSdk(after).get(created.id)).toMatchObject({ value: 'two' });
  await after.stop();
  rmSync(folder, { recursive: true });
});

test('calls are logged without values', async () => {
  await sdk().create(variable('A', { value: 'canary', comment: 'canary' }));
  expect(sandbox.webhost.calls()).toMatchObject([
    { operation: 'createProjectEnv', name: 'A', sent: ['key', 'value', 'type', 'target', 'comment'] },
  ]);
  expect(JSON.stringify(sandbox.webhost.calls())).not.toContain('canary');
});
