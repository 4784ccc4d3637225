import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { expiry, type InternalKeys, signatureOf } from '@secrets/caller';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { z } from 'zod';
import { openRaw } from '../../tests/raw-connection.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import { serviceApp } from '../service-app/service-app.ts';
import { testCaller, testKeys } from '../testing.ts';
import { encodeFrame, maxFrameBody } from './frame.ts';
import { connectFrames, type FrameConnection } from './frame-connection.ts';
import { framesContext } from './frame-head.ts';

const keys = testKeys();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Handlers that wait until the test releases them. */
const held: (() => void)[] = [];

const endpoints = [
  endpoint({
    method: 'get',
    path: '/echo/*path',
    summary: 'Echo',
    params: z.object({ path: z.string() }),
    query: z.object({ large: z.string().default('0') }),
    handle: async ({ params, query, caller }) => ({
      data: { path: params.path, requestId: caller.requestId, large: 'x'.repeat(Number(query.large)) },
    }),
  }),
  endpoint({
    method: 'post',
    path: '/echo/*path',
    summary: 'Echo',
    body: z.object({ large: z.number() }),
    handle: async ({ body, callerToken }) => ({
      data: { token: callerToken?.reveal(), large: 'x'.repeat(body.large) },
    }),
  }),
  endpoint({
    method: 'get',
    path: '/held',
    summary: 'Wait',
    handle: () => new Promise<{ data: string }>((resolve) => held.push(() => resolve({ data: 'released' }))),
  }),
  endpoint({
    method: 'get',
    path: '/internal',
    summary: 'Internal',
    from: 'sync-control',
    handle: async () => undefined,
  }),
];

async function startService(): Promise<RunningServer> {
  const metrics = createMetrics('test', { processMetrics: false });
  const app = serviceApp({
    ...{ service: 'test', endpoints, keys, log: silentLogger(), metrics },
    ...{ readiness: {}, databaseTime: Date.now },
  });
  const server = await startServer(app, { host: '127.0.0.1', port: 0 });
  closers.push(() => server.stop(0));
  return server;
}

async function connect(server: RunningServer): Promise<FrameConnection> {
  const connection = await connectFrames(new URL(server.url));
  closers.push(() => connection.close());
  return connection;
}

interface Sent {
  method?: string;
  path: string;
  query?: string;
  body?: string;
  exp?: number;
  callerToken?: string;
}

/** Sends a request as the gateway does, with these keys. */
async function send(connection: FrameConnection, sent: Sent, signedWith: InternalKeys = keys) {
  const { body = '', ...line } = sent;
  const head = {
    exp: expiry(keys),
    method: 'GET',
    query: '',
    caller: testCaller({ requestId: 'r-1' }),
    ...line,
  };
  const key = signedWith.keyFor('gateway', 'test');
  const sign = (signed: Buffer) => signatureOf(key, framesContext, signed);
  const response = await connection.send(
    (id) => encodeFrame(id, JSON.stringify(head), Buffer.from(body), sign),
    5_000,
  );
  return (
    response && { ...response, body: response.text === undefined ? undefined : JSON.parse(response.text) }
  );
}

const invalid = { status: 403, body: { errors: ['the caller assertion is missing or invalid'] } };

test('many requests share a connection, and their responses arrive in any order', async () => {
  const connection = await connect(await startService());
  const slow = send(connection, { path: '/v1/held' });
  const others = Array.from({ length: 300 }, (_, index) =>
    send(connection, { path: `/v1/echo/a%20${index}` }),
  );
  const responses = await Promise.all(others);
  expect(responses.map((response) => response?.body.data.path)).toEqual(
    others.map((_, index) => `a ${index}`),
  );
  expect(responses[0]).toMatchObject({ status: 200, headers: { 'x-request-id': 'r-1' } });
  held.splice(0).forEach((release) => void release());
  expect((await slow)?.body.data).toBe('released');
});

test('the body and the token of the client arrive', async () => {
  const connection = await connect(await startService());
  const response = await send(connection, {
    method: 'POST',
    path: '/v1/echo/a',
    body: '{"large":2}',
    callerToken: 'sst_a',
  });
  expect(response?.body.data).toEqual({ token: 'sst_a', large: 'xx' });
});

test('a problem, a path that does not exist and an endpoint of another service are refused as over HTTP', async () => {
  const connection = await connect(await startService());
  expect(await send(connection, { method: 'POST', path: '/v1/echo/a', body: '{"large":' })).toMatchObject({
    status: 400,
  });
  expect(await send(connection, { path: '/v1/nothing' })).toMatchObject({ status: 404 });
  expect(await send(connection, { method: 'DELETE', path: '/v1/held' })).toMatchObject({
    status: 405,
    headers: { allow: 'GET' },
  });
  expect(await send(connection, { path: '/v1/internal' })).toMatchObject(invalid);
});

describe('a request', () => {
  test('is refused if it has expired, or was signed with another key', async () => {
    const connection = await connect(await startService());
    expect(await send(connection, { path: '/v1/echo/a', exp: expiry(keys) - 60 })).toMatchObject(invalid);
    expect(await send(connection, { path: '/v1/echo/a' }, testKeys())).toMatchObject(invalid);
    expect(await send(connection, { path: '/v1/echo/a' })).toMatchObject({ status: 200 });
  });

  test('is refused if any byte of it was changed', async () => {
    const server = await startService();
    const head = JSON.stringify({
      exp: expiry(keys),
      method: 'POST',
      path: '/v1/echo/a',
      query: '',
      caller: testCaller(),
    });
    const sign = (signed: Buffer) => signatureOf(keys.keyFor('gateway', 'test'), framesContext, signed);
    const signed = encodeFrame(1, head, Buffer.from('{"large":1}'), sign);
    const bodyAt = 12 + Buffer.byteLength(head);
    for (const at of [12 + head.indexOf('echo'), bodyAt + 9, signed.length - 1]) {
      const connection = await connect(server);
      const changed = Buffer.from(signed);
      changed[at]! ^= 1;
      expect(await connection.send(() => changed, 5_000)).toMatchObject({ status: 403 });
    }
  });
});

describe('a response that is too large for a frame', () => {
  test('has to be requested over HTTP if the request changes nothing', async () => {
    const connection = await connect(await startService());
    expect(await send(connection, { path: '/v1/echo/a', query: `?large=${maxFrameBody}` })).toBeUndefined();
    expect(await send(connection, { path: '/v1/echo/a', query: '?large=1000' })).toMatchObject({
      status: 200,
    });
  });

  test('is sent nevertheless if the request was a change', async () => {
    const connection = await connect(await startService());
    const body = JSON.stringify({ large: 2 * maxFrameBody });
    const response = await send(connection, { method: 'POST', path: '/v1/echo/a', body });
    expect(response?.body.data.large).toHaveLength(2 * maxFrameBody);
  });
});

describe('a service that is about to stop', () => {
  test.each(['drain', 'stop'] as const)(
    'responds to what it has received, and gets nothing more: %s',
    async (end) => {
      const server = await startService();
      const connection = await connect(server);
      const pending = send(connection, { path: '/v1/held' });
      while (held.length === 0) await sleep(1);
      const ended = server[end](60_000);
      while (connection.isOpen) await sleep(1);
      await expect(connectFrames(new URL(server.url))).rejects.toThrow(/status 503|ECONNREFUSED/);
      held.splice(0).forEach((release) => void release());
      expect((await pending)?.body.data).toBe('released');
      await ended;
    },
  );

  test('stops at once if nothing is being served', async () => {
    const server = await startService();
    await connect(server);
    await server.stop(60_000);
  });
});

describe('a connection', () => {
  test('that is lost fails its requests', async () => {
    const server = await startService();
    const connection = await connect(server);
    const pending = send(connection, { path: '/v1/held' });
    while (held.length === 0) await sleep(1);
    await server.stop(0);
    await expect(pending).rejects.toThrow('the connection was lost');
    expect(connection.isOpen).toBe(false);
    held.splice(0);
  });

  test('whose service does not respond in time gets no further requests', async () => {
    const connection = await connect(await startService());
    const frame = (id: number) =>
      encodeFrame(
        id,
        JSON.stringify({
          exp: expiry(keys),
          method: 'GET',
          path: '/v1/held',
          query: '',
          caller: testCaller(),
        }),
        Buffer.alloc(0),
        (signed) => signatureOf(keys.keyFor('gateway', 'test'), framesContext, signed),
      );
    await expect(connection.send(frame, 100)).rejects.toThrow('did not respond in time');
    expect(connection.isOpen).toBe(false);
    held.splice(0);
  });

  test('for another protocol is refused', async () => {
    const { port } = await startService();
    const raw = await openRaw(port);
    raw.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 400 /);
  });

  test('is not opened to a service of a version that does not know this protocol', async () => {
    const server = await startServer((_request, response) => response.writeHead(404).end(), {
      host: '127.0.0.1',
      port: 0,
    });
    closers.push(() => server.stop(0));
    await expect(connectFrames(new URL(server.url))).rejects.toThrow('the service responded with status 404');
  });
});
