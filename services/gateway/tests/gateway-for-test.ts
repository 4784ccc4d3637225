import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { owningServices } from '@secrets/access';
import type { InternalKeys } from '@secrets/caller';
import { readConfig } from '@secrets/config';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import {
  type Endpoint,
  endpoint,
  type RunningServer,
  type Service,
  serviceApp,
  startServer,
} from '@secrets/http';
import { openTestDb } from '@secrets/schemas/testing';
import type { KeyRing } from '@secrets/seal';
import { auditTo, createLogger, createMetrics, type Metrics, silentLogger } from '@secrets/telemetry';
import { z } from 'zod';
import { later, useStarted } from '../../../libs/testing/src/use-started.ts';
import { createGateway, type GatewayConfig } from '../src/app.ts';
import { type GatewaySettings, gatewayEnv } from '../src/settings.ts';

const everyMethod = ['get', 'list', 'post', 'patch', 'delete'] as const;

/** An endpoint on every path that returns what it received. */
const echo = (service: string, method: (typeof everyMethod)[number]): Endpoint =>
  endpoint({
    method,
    path: '/*path',
    summary: 'Echo a request',
    needs: 'no token', // of the stub; the real services check it
    params: z.object({ path: z.string() }),
    query: z.looseObject({}),
    body: z.unknown(),
    handle: async ({ params, query, body, caller }) => {
      if (query.refuse === 'true') throw new Problem('conflict', 'tête-à-tête', { also: ['second'] });
      if (query.issue === 'true')
        return { auth: { client_token: 'sst_issued', accessor: 'accessor-issued' } };
      if (query.break === 'true') throw new Error('broken on purpose');
      if (query.slow === 'true') await sleep(60_000, undefined, { ref: false });
      const large = 'x'.repeat(Number(query.large ?? 0));
      return { data: { service, method, path: params.path, query, body, caller, large } };
    },
  });

/** A service behind the gateway, which checks assertions like a real one. */
async function startStub(name: string, keys: InternalKeys) {
  const app = serviceApp({
    service: name,
    endpoints: everyMethod.map((method) => echo(name, method)),
    keys,
    log: silentLogger(),
    metrics: createMetrics(name, { processMetrics: false }),
    readiness: {},
    databaseTime: Date.now,
  });
  const received: IncomingMessage[] = [];
  const server = await startServer(
    (request, response) => {
      if (request.headers.upgrade === undefined) received.push(request); // it accepts no connections for many requests
      app(request, response);
    },
    { host: '127.0.0.1', port: 0 },
  );
  return { name, url: server.url, received, stop: () => server.stop(0) };
}
export type Stub = Awaited<ReturnType<typeof startStub>>;

export async function startStubs(keys: InternalKeys): Promise<Stub[]> {
  return Promise.all(owningServices.map((name) => startStub(name, keys)));
}

/** A gateway on a free port, and everything that it wrote. */
export interface TestGateway extends Service<RequestListener> {
  /** By default, without waiting for requests in flight. */
  stop(graceMs?: number): Promise<void>;
  url: string;
  audit: string[];
  logs: string[];
  metrics: Metrics;
  failAudit: AuditFailure;
}

/** A simulated failure of the audit log. */
interface AuditFailure {
  /** The number of lines in it from which on it cannot be written. */
  from?: number | undefined;
  /** Writing takes until this resolves. The lines are in `audit` before that. */
  hold?: Promise<void> | undefined;
}

export interface GatewayForTest {
  db: Db;
  keys: InternalKeys;
  rowKeys?: KeyRing;
  stubs: readonly { name: string; url: string }[];
}

const defaults: GatewaySettings = {
  ...readConfig(z.object(gatewayEnv), {}),
  CONSOLE: false,
  LOGIN_RATE_LIMIT: 0,
};

export interface GatewayOptions extends Partial<Omit<GatewayConfig, 'settings'>> {
  settings?: Partial<GatewaySettings>;
  requestTimeoutMs?: number;
  stallTimeoutMs?: number;
}

export async function startGateway(
  { db, keys, rowKeys, stubs }: GatewayForTest,
  { requestTimeoutMs, stallTimeoutMs, settings, ...config }: GatewayOptions = {},
): Promise<TestGateway> {
  const audit: string[] = [];
  const logs: string[] = [];
  const failAudit: AuditFailure = {};
  const metrics = createMetrics('gateway', { processMetrics: false });
  const append = async (text: string) => {
    if (audit.length >= (failAudit.from ?? Number.POSITIVE_INFINITY)) throw new Error('disk full');
    audit.push(...text.trim().split('\n'));
    if (audit.length > 1) await failAudit.hold;
  };
  const log = createLogger({ service: 'gateway', destination: { write: (line) => void logs.push(line) } });
  const upstreams = Object.fromEntries(
    stubs.map(({ name, url }) => [name, url]),
  ) as GatewayConfig['upstreams'];
  const gateway = createGateway(
    { db, keys, rowKeys, audit: auditTo(append), log, metrics },
    { upstreams, settings: { ...defaults, ...settings }, ...config },
  );
  const server: RunningServer = await startServer(gateway.app, {
    host: '127.0.0.1',
    port: 0,
    listVerb: true,
    onUnparsed: gateway.onUnparsed,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(stallTimeoutMs === undefined ? {} : { stallTimeoutMs }),
  });
  const stop = async (graceMs = 0) => {
    await server.stop(graceMs);
    await gateway.stop();
  };
  return { ...gateway, stop, url: server.url, audit, logs, metrics, failAudit };
}

export interface TestRequest {
  method?: string;
  path?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Sends one request exactly as written, without normalization of its path. */
export async function ask(
  { url }: { url: string },
  { method = 'GET', path = '/v1/kv/data/a', ...asked }: TestRequest,
) {
  const token = asked.token === undefined ? {} : { 'x-service-token': asked.token };
  const { hostname, port } = new URL(url);
  const sent = httpRequest({ hostname, port, method, path, headers: { ...token, ...asked.headers } });
  sent.end(asked.body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += chunk;
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Starts a gateway with services and a database for the tests of a file, and stops them after those. */
export function useGateway(keys: InternalKeys): { db: Db; stubs: Stub[]; gateway: TestGateway } {
  const start = async () => {
    const db = await openTestDb();
    const stubs = await startStubs(keys);
    return { db, stubs, gateway: await startGateway({ db, keys, stubs }) };
  };
  const system = useStarted(start, async ({ db, stubs, gateway }) => {
    await gateway.stop();
    await Promise.all(stubs.map((stub) => stub.stop()));
    await db.close();
  });
  return {
    db: later(() => system.db),
    stubs: later(() => system.stubs),
    gateway: later(() => system.gateway),
  };
}
