import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { useSandbox } from './stores/clouda/clouda-harness.ts';

const { sandbox, client } = useSandbox();

const list = (abortSignal?: AbortSignal) =>
  client.send(new ListSecretsCommand({}), abortSignal ? { abortSignal } : {});
const errorOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

test('throttle: the throttling error of the service, with Retry-After', async () => {
  sandbox.cloudA.faults.add({ effect: 'throttle', retryAfterSeconds: 7, times: 1 });
  expect(await errorOf(list())).toMatchObject({
    name: 'ThrottlingException',
    $metadata: { httpStatusCode: 400 },
    $response: { headers: { 'retry-after': '7' } },
  });
  await list();
});

test('error: the specified error code', async () => {
  sandbox.cloudA.faults.add({ effect: 'error', code: 'AccessDeniedException', status: 400, times: 1 });
  expect(await errorOf(list())).toMatchObject({ name: 'AccessDeniedException' });
  await list();
});

test("server-error: the service's internal error", async () => {
  sandbox.cloudA.faults.add({ effect: 'server-error', times: 1 });
  expect(await errorOf(list())).toMatchObject({
    name: 'InternalServiceError',
    $metadata: { httpStatusCode: 500 },
  });
});

test("refuse-signature: the service's signature error", async () => {
  sandbox.cloudA.faults.add({ effect: 'refuse-signature', times: 1 });
  expect(await errorOf(list())).toMatchObject({ name: 'InvalidSignatureException' });
});

test('garbage: a successful response that is not JSON', async () => {
  sandbox.cloudA.faults.add({ effect: 'garbage', times: 1 });
  expect(await errorOf(list())).toBeInstanceOf(SyntaxError);
});

test('empty: status 204, and the operation is not performed', async () => {
  sandbox.cloudA.faults.add({ effect: 'empty', operation: 'CreateSecret', times: 1 });
  const creation = client.send(new CreateSecretCommand({ Name: 'absent', SecretString: 'one' }));
  expect(await creation).toMatchObject({ $metadata: { httpStatusCode: 204 } });
  expect(sandbox.cloudA.secrets()).toEqual([]);
});

test('cut-off: the connection ends within the body', async () => {
  sandbox.cloudA.faults.add({ effect: 'cut-off', times: 1 });
  expect(await errorOf(list())).toMatchObject({ code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } });
});

test('many-headers: more than the client accepts', async () => {
  sandbox.cloudA.faults.add({ effect: 'many-headers', times: 1 });
  expect(await errorOf(list())).toMatchObject({ code: 'HPE_HEADER_OVERFLOW' });
});

test('deep: JSON of as many levels as are asked for', async () => {
  sandbox.directory.faults.add({ effect: 'deep', levels: 3, times: 1 });
  const response = await fetch(`${sandbox.url}/metadata/identity/oauth2/token`);
  expect([response.status, await response.json()]).toEqual([200, { deep: [[[]]] }]);
});

test('redirect: the status and the address given', async () => {
  const location = 'http://127.0.0.1:9/there';
  sandbox.cloudA.faults.add({ effect: 'redirect', location, status: 307, times: 1 });
  expect(await errorOf(list())).toMatchObject({
    $metadata: { httpStatusCode: 307 },
    $response: { headers: { location } },
  });
});

test('reset: the connection is reset', async () => {
  sandbox.cloudA.faults.add({ effect: 'reset', times: 1 });
  expect(await errorOf(list())).toMatchObject({ message: expect.stringContaining('ECONNRESET') });
});

test('silence: no response until the client gives up', async () => {
  sandbox.cloudA.faults.add({ effect: 'silence', times: 1 });
  const caller = new AbortController();
  const unanswered = errorOf(list(caller.signal));
  await eventually(() => sandbox.cloudA.calls().length === 1);
  caller.abort();
  expect(await unanswered).toMatchObject({ name: 'AbortError' });
  expect(sandbox.cloudA.calls()).toMatchObject([{ outcome: 'silence', fault: 'silence' }]);
  await list();
});

test('slow: the operation succeeds after the delay', async () => {
  sandbox.cloudA.faults.add({ effect: 'slow', ms: 80, times: 1 });
  const startedMs = performance.now();
  await list();
  expect(performance.now() - startedMs).toBeGreaterThan(75);
  expect(sandbox.cloudA.calls()).toMatchObject([{ outcome: 200, fault: 'slow' }]);
});

test('slow: the operation is not performed if the client disconnects during the delay', async () => {
  sandbox.cloudA.faults.add({ effect: 'slow', ms: 600_000, times: 1 });
  const caller = new AbortController();
  const abandoned = errorOf(
    client.send(new CreateSecretCommand({ Name: 'abandoned', SecretString: 'x' }), {
      abortSignal: caller.signal,
    }),
  );
  await eventually(() => sandbox.cloudA.faults.list().length === 0);
  caller.abort();
  expect(await abandoned).toMatchObject({ name: 'AbortError' });
  await eventually(() => sandbox.cloudA.calls().length === 1);
  expect(sandbox.cloudA.calls()).toMatchObject([{ outcome: 'abandoned' }]);
  expect(sandbox.cloudA.secrets()).toEqual([]);
});

test('act-then-die: the operation is performed, but its response is lost', async () => {
  sandbox.cloudA.faults.add({ effect: 'act-then-die', operation: 'CreateSecret', times: 1 });
  const creation = client.send(new CreateSecretCommand({ Name: 'lost', SecretString: 'one' }));
  expect(await errorOf(creation)).toMatchObject({ message: expect.stringContaining('ECONNRESET') });
  expect((await client.send(new GetSecretValueCommand({ SecretId: 'lost' }))).SecretString).toBe('one');
});

test('act-then-fail: the operation is performed, and its response is an error', async () => {
  sandbox.cloudA.faults.add({ effect: 'act-then-fail', operation: 'CreateSecret', times: 1 });
  const creation = client.send(new CreateSecretCommand({ Name: 'denied', SecretString: 'one' }));
  expect(await errorOf(creation)).toMatchObject({ $metadata: { httpStatusCode: 500 } });
  expect((await client.send(new GetSecretValueCommand({ SecretId: 'denied' }))).SecretString).toBe('one');
});

test('act-then-wait: the operation is performed at once, and its response comes late', async () => {
  sandbox.cloudA.faults.add({ effect: 'act-then-wait', ms: 600_000, operation: 'CreateSecret', times: 1 });
  const caller = new AbortController();
  const creation = errorOf(
    client.send(new CreateSecretCommand({ Name: 'late', SecretString: 'one' }), {
      abortSignal: caller.signal,
    }),
  );
  await eventually(() => sandbox.cloudA.secrets().length === 1);
  expect(sandbox.cloudA.calls()).toEqual([]);
  caller.abort();
  expect(await creation).toMatchObject({ name: 'AbortError' });
  await eventually(() => sandbox.cloudA.calls().length === 1);
});

test('rate-limit: concurrent calls above the burst are throttled', async () => {
  sandbox.cloudA.faults.add({ effect: 'rate-limit', operation: 'ListSecrets', perSecond: 0.001, burst: 3 });
  const errors = await Promise.all(Array.from({ length: 5 }, () => errorOf(list())));
  expect(errors.filter(Boolean)).toHaveLength(2);
});
