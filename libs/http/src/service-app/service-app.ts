import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InternalKeys } from '@secrets/caller';
import type { Logger, Metrics } from '@secrets/telemetry';
import express, { type Express } from 'express';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { endpointServer, type ServeRequest } from '../endpoint/endpoint-server.ts';
import { openApi } from '../endpoint/open-api/open-api.ts';
import { type FrameListener, serveFrames } from '../frames/serve-frames.ts';
import { clockSkewSeconds, type DatabaseTime, skewNote } from './clock-skew.ts';
import { httpListener } from './http-listener.ts';

export interface ServiceAppOptions {
  /** The service's folder name. */
  service: string;
  endpoints: readonly Endpoint[];
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
  /** One check per dependency, by name; it rejects if the dependency is unavailable. */
  readiness: Record<string, () => Promise<void>>;
  /** Names of those that no request needs, but the work in the background. Default none. */
  background?: readonly string[];
  databaseTime: DatabaseTime;
}

/** Request listener of an internal service. */
export interface ServiceApp extends RequestListener {
  /** The services whose requests the endpoints accept. */
  callers: ReadonlySet<string>;
  /** Serves only what operators and orchestrators ask for. */
  operators: RequestListener;
  /** Serves requests to the endpoints that arrive in another way than over HTTP. */
  serve: ServeRequest;
  /** Serves the gateway's requests that share a connection. */
  frames: FrameListener;
}

const endpointPrefix = '/v1/';

/** The app of an internal service: its endpoints, `/livez`, `/readyz`, `/metrics` and its API description. */
export function serviceApp(options: ServiceAppOptions): ServiceApp {
  const serve = endpointServer(options.endpoints, options.log);
  const endpoints = httpListener(serve, options);
  const operators = operatorApp(options);
  operators.get(
    '/openapi.json',
    (_request, response) => void response.json(openApi(options.service, options.endpoints)),
  );
  operators.use((_request, response) => void response.status(404).json({ errors: ['no such path'] }));
  // Without Express: its router is a measurable part of the cost of a request.
  const listener: RequestListener = (request, response) =>
    request.url?.startsWith(endpointPrefix)
      ? endpoints(request, response)
      : void operators(request, response);
  const callers = new Set(options.endpoints.map(({ from = 'gateway' }) => from));
  return Object.assign(listener, { serve, callers, operators, frames: serveFrames(serve, options) });
}

/**
 * An app with `/livez` (the process responds), `/readyz` (so do its dependencies; a 503 names those that do not) and `/metrics`.
 * `/readyz?traffic` leaves out the dependencies that no request needs. A clock that is wrong is a note, and a metric.
 */
export function operatorApp({
  metrics,
  readiness,
  background = [],
  databaseTime,
}: Pick<ServiceAppOptions, 'metrics' | 'readiness' | 'background' | 'databaseTime'>): Express {
  const ofRequests = Object.fromEntries(
    Object.entries(readiness).filter(([part]) => !background.includes(part)),
  );
  const skew = metrics.gauge(
    'database_clock_skew_seconds',
    'Seconds by which the clock of this process is ahead of that of the database',
  );
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.response.json = function (content) {
    // Express adds a charset, which JSON does not have (RFC 8259, section 11), and then some clients do not recognise it.
    return this.setHeader('content-type', 'application/json').end(JSON.stringify(content));
  };
  app.get('/livez', (_request, response) => void response.json({ live: true }));
  app.get('/readyz', async ({ query }, response) => {
    const missing = await failedDependencies('traffic' in query ? ofRequests : readiness);
    const note = skewNote(clockSkewSeconds(databaseTime));
    const notes = note === undefined ? {} : { notes: [note] };
    response
      .status(missing.length === 0 ? 200 : 503)
      .json({ ready: missing.length === 0, missing, ...notes });
  });
  app.get('/metrics', async (_request, response) => {
    skew.set(clockSkewSeconds(databaseTime));
    response.type(metrics.contentType).send(await metrics.text());
  });
  return app;
}

const checkTimeoutMs = 2_000;

/** Returns the names of the dependencies whose check failed or took longer than 2 s. */
export async function failedDependencies(readiness: ServiceAppOptions['readiness']): Promise<string[]> {
  const checks = Object.entries(readiness).map(async ([part, check]) =>
    (await succeedsInTime(check)) ? undefined : part,
  );
  return (await Promise.all(checks)).filter((part) => part !== undefined);
}

const succeedsInTime = (check: () => Promise<void>): Promise<boolean> =>
  Promise.race([
    check().then(
      () => true,
      () => false,
    ),
    sleep(checkTimeoutMs, false, { ref: false }),
  ]);
