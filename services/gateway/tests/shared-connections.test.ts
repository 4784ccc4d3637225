import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { insertToken } from '@secrets/access/testing';
import { type Caller, parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import {
  type Endpoint,
  endpoint,
  maxBodyBytes,
  type RunningServer,
  serviceApp,
  startServer,
} from '@secrets/http';
import { openTestDb } from '@secrets/schemas/testing';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { z } from 'zod';
import { ask, startGateway, type TestGateway, type TestRequest } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
let db: Db;
let token: string;
let gateway: TestGateway;
let service: Service;
let other: Service;

/** The secrets service, of which is known how requests reach it. */
interface Service {
  server: RunningServer;
  served: { method: string; caller: Caller; isHeld: boolean }[];
  /** Requests that arrived over HTTP. */
  overHttp: number;
  /** Shared connections that were opened. */
  connections: number;
  release(): void;
}

async function startService(): Promise<Service> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const started = { served: [], overHttp: 0, connections: 0, release } as unknown as Service;
  const echo = (method: 'get' | 'post'): Endpoint =>
    endpoint({
      method,
      path: '/*path',
      summary: 'Echo',
      needs: 'no token',
      query: z.object({ hold: z.string().optional(), large: z.string().default('0') }),
      body: z.unknown(),
      handle: async ({ query, body, caller }) => {
        started.served.push({ method, caller, isHeld: query.hold !== undefined });
        if (query.hold !== undefined) await released;
        return { data: { body, large: 'x'.repeat(Number(query.large)) } };
      },
    });
  const metrics = createMetrics('secrets', { processMetrics: false });
  const endpoints = [echo('get'), echo('post')];
  const app = serviceApp({
    service: 'secrets',
    endpoints,
    keys,
    log: silentLogger(),
    metrics,
    readiness: {},
    databaseTime: Date.now,
  });
  const counting: RequestListener = (request, response) => {
    started.overHttp += 1;
    app(request, response);
  };
  const upgrade: typeof app.frames.upgrade = (...asked) => {
    started.connections += 1;
    app.frames.upgrade(...asked);
  };
  const handler = Object.assign(counting, { frames: { ...app.frames, upgrade } });
  return Object.assign(started, { server: await startServer(handler, { host: '127.0.0.1', port: 0 }) });
}

beforeAll(async () => {
  db = await openTestDb();
  token = (await insertToken(db)).token;
});
afterAll(() => db.close());

beforeEach(async () => {
  [service, other] = [await startService(), await startService()];
  gateway = await startGatewayTo([service]);
});
afterEach(async () => {
  for (const one of [service, other]) one.release();
  await gateway.stop();
  await Promise.all([service, other].map(({ server }) => server.stop(0)));
});

/** Starts a gateway, and waits until it shares connections to each of the replicas. */
async function startGatewayTo(
  replicas: readonly Service[],
  config: Parameters<typeof startGateway>[1] = {},
): Promise<TestGateway> {
  const nowhere = { url: 'http://127.0.0.1:9' };
  const url = replicas.map(({ server }) => server.url).join();
  const stubs = [
    { name: 'secrets', url },
    { name: 'login', ...nowhere },
    { name: 'sync-control', ...nowhere },
  ];
  const started = await startGateway({ db, keys, stubs }, config);
  const before = replicas.map(({ connections }) => connections);
  await eventually(async () => {
    const overHttp = replicas.map((one) => one.overHttp);
    await ask(started, { token });
    expect(replicas.every(({ connections }, at) => connections > before[at]!)).toBe(true);
    expect(replicas.map((one) => one.overHttp)).toEqual(overHttp);
  });
  return started;
}

const send = (request: TestRequest = {}) => ask(gateway, { token, ...request });
const outcomes = () =>
  gateway.audit.map((line) => JSON.parse(line)).filter(({ type }) => type === 'response');

const held = () => [service, other].filter(({ served }) => served.some(({ isHeld }) => isHeld));

test('a request and its response are the same as over HTTP', async () => {
  const [framed, before] = [await send({ method: 'POST', body: '{"a":1}' }), service.overHttp];
  expect(framed).toMatchObject({
    status: 200,
    body: { data: { body: { a: 1 } } },
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
  expect(framed.headers['x-request-id']).toBe(framed.body.request_id);
  expect(service.served.at(-1)?.caller.policies).toEqual(['root']);
  expect(outcomes().at(-1)).toMatchObject({ status: 200, request_id: framed.body.request_id });
  expect(service.overHttp).toBe(before);
});

test('a large body, and a large response to a read, take HTTP', async () => {
  const before = service.overHttp;
  const body = JSON.stringify({ a: 'x'.repeat(maxBodyBytes / 2) });
  expect((await send({ method: 'POST', body })).body.data.body.a).toHaveLength(maxBodyBytes / 2);
  expect(service.overHttp).toBe(before + 1);
  expect((await send({ path: '/v1/kv/data/a?large=400000' })).body.data.large).toHaveLength(400_000);
  expect(service.overHttp).toBe(before + 2);
});

test.each([
  ['a read', 'GET', 200, 1],
  ['a write', 'POST', 503, 0],
])(
  '%s whose connection is lost: only a read is sent again, because a write may have been executed',
  async (_what, method, status, servedAgain) => {
    await gateway.stop();
    gateway = await startGatewayTo([service, other]);
    const body = method === 'POST' ? { body: '{}' } : {};
    const sent = send({ method, path: '/v1/kv/data/a?hold=1', ...body });
    await eventually(async () => expect(held()).toHaveLength(1));
    const lost = held()[0]!;
    const remaining = lost === service ? other : service;
    remaining.release();
    const before = remaining.served.length;
    await lost.server.stop(0);
    expect((await sent).status).toBe(status);
    expect(remaining.served.length - before).toBe(servedAgain);
  },
);

test('a service that stops responds to what it has received, and nothing is sent to it any more', async () => {
  const pending = Promise.all(Array.from({ length: 20 }, () => send({ path: '/v1/kv/data/a?hold=1' })));
  await eventually(async () => expect(service.served.filter(({ isHeld }) => isHeld)).toHaveLength(20));
  const stopped = service.server.stop(60_000);
  service.release();
  expect((await pending).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  await stopped;
  expect((await send()).status).toBe(503);
});

test('a read without a response in time is not sent again', async () => {
  await gateway.stop();
  gateway = await startGatewayTo([service], { upstreamTimeoutMs: 1_000 });
  const { status, body } = await send({ path: '/v1/kv/data/a?hold=1' });
  expect([status, body.errors]).toEqual([503, ['secrets is unavailable']]);
  expect(service.served.filter(({ isHeld }) => isHeld)).toHaveLength(1);
});
