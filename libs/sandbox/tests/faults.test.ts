import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FaultInjector } from '../src/faults/fault-injector.ts';
import { type Sandbox, startSandbox } from '../src/sandbox.ts';
import { clientOf } from './clouda/clouda-client.ts';

const CANARY = 'canary-3f9a1c';

let sandbox: Sandbox;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  sandbox = await startSandbox();
  client = clientOf(sandbox);
});
afterAll(async () => {
  client.destroy();
  await sandbox.stop();
});
beforeEach(() => sandbox.reset());

const list = (abortSignal?: AbortSignal) =>
  client.send(new ListSecretsCommand({}), abortSignal ? { abortSignal } : {});
const create = (Name: string) => client.send(new CreateSecretCommand({ Name, SecretString: CANARY }));
const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

describe('on the wire', () => {
  test('throttled, with a time to wait', async () => {
    sandbox.cloudA.faults.add({ effect: 'throttle', retryAfterSeconds: 7, times: 1 });
    expect(await failureOf(list())).toMatchObject({
      name: 'ThrottlingException',
      $metadata: { httpStatusCode: 400 },
      $response: { headers: { 'retry-after': '7' } },
    });
    await list();
  });

  test('any error, a server error, and refused signatures', async () => {
    sandbox.cloudA.faults.add({ effect: 'error', code: 'AccessDeniedException', status: 400, times: 1 });
    expect(await failureOf(list())).toMatchObject({ name: 'AccessDeniedException' });
    sandbox.cloudA.faults.add({ effect: 'server-error', times: 1 });
    expect(await failureOf(list())).toMatchObject({
      name: 'InternalServiceError',
      $metadata: { httpStatusCode: 500 },
    });
    sandbox.cloudA.faults.add({ effect: 'refuse-signature', times: 1 });
    expect(await failureOf(list())).toMatchObject({ name: 'InvalidSignatureException' });
    await list();
  });

  test('garbage', async () => {
    sandbox.cloudA.faults.add({ effect: 'garbage', times: 1 });
    expect(await failureOf(list())).toBeInstanceOf(SyntaxError);
  });

  test('a connection that is reset, and silence until the caller gives up', async () => {
    sandbox.cloudA.faults.add({ effect: 'reset', times: 1 });
    expect(await failureOf(list())).toMatchObject({ message: expect.stringContaining('ECONNRESET') });
    sandbox.cloudA.faults.add({ effect: 'silence', times: 1 });
    const before = sandbox.cloudA.calls().length;
    const caller = new AbortController();
    const unanswered = failureOf(list(caller.signal));
    while (sandbox.cloudA.calls().length === before) await new Promise((resolve) => setTimeout(resolve, 5));
    caller.abort();
    expect(await unanswered).toMatchObject({ name: 'AbortError' });
    await list();
  });

  test('slow, and then as if nothing were', async () => {
    sandbox.cloudA.faults.add({ effect: 'slow', ms: 80, times: 1 });
    const startedMs = performance.now();
    await list();
    expect(performance.now() - startedMs).toBeGreaterThan(75);
  });

  test('acted, but the answer is lost', async () => {
    sandbox.cloudA.faults.add({ effect: 'act-then-die', operation: 'CreateSecret', times: 1 });
    expect(await failureOf(create('lost'))).toMatchObject({ message: expect.stringContaining('ECONNRESET') });
    expect((await client.send(new GetSecretValueCommand({ SecretId: 'lost' }))).SecretString).toBe(CANARY);
  });

  test('a rate that is really kept', async () => {
    sandbox.cloudA.faults.add({ effect: 'rate-limit', operation: 'ListSecrets', perSecond: 0.001, burst: 3 });
    const failures = await Promise.all(Array.from({ length: 5 }, () => failureOf(list())));
    expect(failures.filter(Boolean)).toHaveLength(2);
  });
});

describe('aim', () => {
  test('by operation, by name pattern, so many times, until removed', () => {
    const board = new FaultInjector();
    const id = board.add({ effect: 'throttle', operation: ['Put', 'Update'], name: 'app/*/key' });
    const ending = (operation: string, name?: string) => board.apply(operation, name).override?.effect;
    expect(ending('Get', 'app/x/key')).toBeUndefined();
    expect(ending('Put', 'app/x/other')).toBeUndefined();
    expect(ending('Put')).toBeUndefined();
    expect(ending('Put', 'app/x/key')).toBe('throttle');
    expect(board.remove(id)).toBe(true);
    board.add({ effect: 'reset', times: 2 });
    expect([ending('a'), ending('b'), ending('c')]).toEqual(['reset', 'reset', undefined]);
  });

  test('the first that matches wins, and slowness adds up', () => {
    const board = new FaultInjector();
    board.add({ effect: 'slow', ms: 10 });
    board.add({ effect: 'server-error', times: 1 });
    board.add({ effect: 'throttle', times: 1 });
    board.add({ effect: 'slow', ms: 5 });
    expect(board.apply('x', undefined)).toMatchObject({ delayMs: 15, override: { effect: 'server-error' } });
    expect(board.apply('x', undefined)).toMatchObject({ delayMs: 15, override: { effect: 'throttle' } });
  });
});

describe('over HTTP', () => {
  const ask = (path: string, method = 'GET', body?: object) =>
    fetch(`${sandbox.url}/_sandbox/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });

  test('faults are ordered, shown and taken away', async () => {
    const ordered = await ask('faults', 'POST', { store: 'cloudA-sm', effect: 'throttle' });
    expect(ordered.status).toBe(201);
    expect(await failureOf(list())).toMatchObject({ name: 'ThrottlingException' });
    expect(await (await ask('faults')).json()).toMatchObject({
      faults: [{ store: 'cloudA-sm', effect: 'throttle' }],
    });
    const { id } = (await ordered.json()) as { id: string };
    expect((await ask(`faults/${id}`, 'DELETE')).status).toBe(204);
    expect((await ask(`faults/${id}`, 'DELETE')).status).toBe(404);
    await ask('faults', 'POST', { store: 'cloudA-sm', effect: 'reset' });
    expect((await ask('faults', 'DELETE')).status).toBe(204);
    await list();
  });

  test('an unknown store or effect is refused, in a sentence', async () => {
    for (const body of [{ store: 'none', effect: 'reset' }, { store: 'cloudA-sm', effect: 'rain' }, {}]) {
      const answer = await ask('faults', 'POST', body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ errors: [expect.any(String)] });
    }
    expect((await ask('calls?limit=none')).status).toBe(400);
  });

  test('calls are told without values', async () => {
    await create('seen/1');
    await failureOf(client.send(new DescribeSecretCommand({ SecretId: 'absent' })));
    const text = await (await ask('calls?store=cloudA-sm')).text();
    expect(text).not.toContain(CANARY);
    expect(JSON.parse(text).calls).toMatchObject([
      { operation: 'CreateSecret', name: 'seen/1', region: 'eu-west-1', outcome: 200 },
      { operation: 'DescribeSecret', name: 'absent', outcome: 400, sent: ['SecretId'] },
    ]);
    expect(sandbox.cloudA.calls()).toHaveLength(2);
  });

  test('contents are told with values; a reset forgets them', async () => {
    await create('kept');
    const stores = async () =>
      (await (await ask('stores')).json()) as { stores: Record<string, { secrets: object[] }> };
    expect((await stores()).stores['cloudA-sm']?.secrets).toEqual([
      {
        name: 'kept',
        region: 'eu-west-1',
        value: CANARY,
        tags: {},
        version_count: 1,
        deleted_at: null,
        updated_at: expect.any(String),
      },
    ]);
    expect((await ask('reset', 'POST')).status).toBe(204);
    expect((await stores()).stores['cloudA-sm']?.secrets).toEqual([]);
  });
});
