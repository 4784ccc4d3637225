import {
  CreateSecretCommand,
  DescribeSecretCommand,
  ListSecretsCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../src/sandbox.ts';
import { cloudAClient } from './clouda/clouda-harness.ts';

const CANARY = 'canary-3f9a1c';

let sandbox: Sandbox;
let client: SecretsManagerClient;

beforeAll(async () => {
  sandbox = await startSandbox();
  client = cloudAClient(sandbox);
});
afterAll(async () => {
  client.destroy();
  await sandbox.stop();
});
beforeEach(() => sandbox.reset());

const control = (path: string, method = 'GET', body?: object) =>
  fetch(`${sandbox.url}/_sandbox/${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
const create = (Name: string) => client.send(new CreateSecretCommand({ Name, SecretString: CANARY }));
const list = () => client.send(new ListSecretsCommand({}));

describe('faults', () => {
  test('a fault is added, listed and removed by its ID', async () => {
    const added = await control('faults', 'POST', { store: 'cloudA-sm', effect: 'throttle' });
    expect(added.status).toBe(201);
    await expect(list()).rejects.toMatchObject({ name: 'ThrottlingException' });
    expect(await (await control('faults')).json()).toMatchObject({
      faults: [{ store: 'cloudA-sm', effect: 'throttle' }],
    });
    const { id } = (await added.json()) as { id: string };
    expect((await control(`faults/${id}`, 'DELETE')).status).toBe(204);
    await list();
    expect((await control(`faults/${id}`, 'DELETE')).status).toBe(404);
  });

  test('all faults are removed at once', async () => {
    await control('faults', 'POST', { store: 'cloudA-sm', effect: 'reset' });
    expect((await control('faults', 'DELETE')).status).toBe(204);
    await list();
  });

  test.each([
    ['an unknown store', { store: 'none', effect: 'reset' }],
    ['an unknown effect', { store: 'cloudA-sm', effect: 'rain' }],
    ['no store', {}],
  ])('a fault with %s is rejected with a reason', async (_, body) => {
    const response = await control('faults', 'POST', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ errors: [expect.any(String)] });
  });
});

describe('calls', () => {
  test('are listed without values', async () => {
    await create('seen/1');
    const absent = client.send(new DescribeSecretCommand({ SecretId: 'absent' }));
    await expect(absent).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    const text = await (await control('calls?store=cloudA-sm')).text();
    expect(text).not.toContain(CANARY);
    expect(JSON.parse(text).calls).toMatchObject([
      { operation: 'CreateSecret', name: 'seen/1', region: 'eu-west-1', outcome: 200 },
      { operation: 'DescribeSecret', name: 'absent', outcome: 400, sent: ['SecretId'] },
    ]);
  });

  test('an invalid limit is rejected', async () => {
    expect((await control('calls?limit=none')).status).toBe(400);
  });
});

describe('stores', () => {
  const secrets = async () => {
    const { stores } = (await (await control('stores')).json()) as {
      stores: Record<string, { secrets: object[] }>;
    };
    return stores['cloudA-sm']?.secrets;
  };

  test('secrets are listed with their values', async () => {
    await create('stored');
    expect(await secrets()).toEqual([
      {
        name: 'stored',
        region: 'eu-west-1',
        value: CANARY,
        tags: {},
        version_count: 1,
        deleted_at: null,
        updated_at: expect.any(String),
      },
    ]);
  });

  test('a reset discards secrets, calls and faults', async () => {
    await create('discarded');
    sandbox.cloudA.faults.add({ effect: 'reset' });
    expect((await control('reset', 'POST')).status).toBe(204);
    expect(await secrets()).toEqual([]);
    expect(sandbox.cloudA.calls()).toEqual([]);
    await list();
  });
});
