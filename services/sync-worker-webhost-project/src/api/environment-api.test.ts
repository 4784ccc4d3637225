import { describe, expect, test } from '@jest/globals';
import { EnvironmentApi } from './environment-api.ts';

const signal = AbortSignal.timeout(60_000);
const record = {
  id: 'e1',
  key: 'A',
  value: 'canary',
  type: 'encrypted',
  target: ['production'],
  updatedAt: 7,
};
const variable = {
  key: 'A',
  value: 'canary',
  type: 'encrypted',
  target: ['production'],
  gitBranch: null,
  comment: '',
} as const;

/** The API with these responses, in turn; the last one is repeated. */
function apiWith(...responses: [number, unknown][]) {
  const sent: string[] = [];
  const fetch = async (url: unknown) => {
    sent.push(String(url));
    const [status, content] = responses[Math.min(sent.length, responses.length) - 1]!;
    return new Response(JSON.stringify(content), { status });
  };
  const access = { endpointUrl: 'http://host/base/', accessToken: 't', projectId: 'a/b', teamId: 'x&y' };
  return { api: new EnvironmentApi({ ...access, fetch: fetch as typeof globalThis.fetch }), sent };
}

describe('a list', () => {
  test('is readable whatever the variables of others contain, and does not keep values', async () => {
    const envs = [
      { key: 'B', type: 'novel', contentHint: { type: 'novel' }, securityIssues: ['novel'] },
      { ...record, target: 'preview', visibility: 'novel', updatedAt: '7' },
      { ...record, id: 'e2', type: 'plain', gitBranch: null, comment: null, customEnvironmentIds: null },
    ];
    const { variables, hidden } = await apiWith([200, { envs }]).api.list(signal);
    expect(hidden).toBe(0);
    expect(variables).toMatchObject([
      { id: '', key: 'B', isManagedElsewhere: true, target: [], knownBytes: 0 },
      { id: 'e1', target: ['preview'], isManagedElsewhere: false, knownBytes: 0, updatedAt: null },
      { id: 'e2', comment: '', target: ['production'], knownBytes: 6, updatedAt: 7 },
    ]);
    expect(JSON.stringify(variables)).not.toContain('canary');
  });

  test('whose pages do not end is unavailable', async () => {
    const { api, sent } = apiWith([200, { envs: [record], pagination: { next: 5 } }]);
    await expect(api.list(signal)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(sent).toHaveLength(200);
    expect(sent[1]).toBe('http://host/base/v10/projects/a%2Fb/env?teamId=x%26y&until=5');
  });

  test('without variables is unavailable, not empty', async () => {
    for (const content of [{}, { envs: null }, [], 'none'])
      await expect(apiWith([200, content]).api.list(signal)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('webhost-project 1: a creation with status 201', () => {
  const failed = [{ error: { code: 'ENV_CONFLICT', message: 'canary' } }];

  test.each<[string, object, string]>([
    ['that lists a failure is one', { created: null, failed }, 'not_ready'],
    ['that lists a failure beside a record is one', { created: record, failed }, 'not_ready'],
    ['that lists a failure without a code is one', { created: [], failed: [{ error: {} }] }, 'rejected'],
    ['without a record is unavailable', { failed: [] }, 'unavailable'],
    ['without an ID is unavailable', { created: { ...record, id: undefined }, failed: [] }, 'unavailable'],
  ])('%s', async (_, content, kind) => {
    const fault = await apiWith([201, content])
      .api.create([variable], signal)
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind });
    expect(String(fault)).not.toContain('canary');
  });

  test('returns one record or a list of them, from other servers as envs', async () => {
    const contents = [{ created: record, failed: [] }, { created: [record], failed: [] }, { envs: [record] }];
    for (const content of contents) {
      const { api } = apiWith([201, content]);
      expect(await api.create([variable], signal)).toMatchObject([{ id: 'e1', updatedAt: 7 }]);
    }
  });
});

test('webhost-project 3: 404 is undefined on edit and success on delete', async () => {
  const { api } = apiWith([404, { error: { code: 'not_found' } }]);
  expect(await api.edit('e1', { value: 'x' }, signal)).toBeUndefined();
  await api.remove('e1', signal);
});

test.each(['', '.', '..'])('no call is made for a project or a variable called %j', async (name) => {
  const sent: string[] = [];
  const fetch = async (url: unknown) => {
    sent.push(String(url));
    return new Response('{}', { status: 200 });
  };
  const access = {
    endpointUrl: 'http://host',
    accessToken: 't',
    teamId: '',
    fetch: fetch as typeof globalThis.fetch,
  };
  const refusal = { kind: 'rejected', message: expect.stringMatching(/must not be empty, \. or \.\./) };
  await expect(new EnvironmentApi({ ...access, projectId: name }).list(signal)).rejects.toMatchObject(
    refusal,
  );
  await expect(new EnvironmentApi({ ...access, projectId: 'p' }).remove(name, signal)).rejects.toMatchObject(
    refusal,
  );
  expect(sent).toEqual([]);
});
