import type { InternalKeys } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Logger, Metrics } from '@secrets/telemetry';
import express, { type Express } from 'express';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { endpointRouter } from '../endpoint/endpoint-router.ts';
import { openApi } from '../endpoint/open-api.ts';
import { errorHandler } from '../problem/error-handler.ts';

export interface ServiceAppOptions {
  /** The service's folder name. */
  service: string;
  endpoints: readonly Endpoint[];
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
  /** Each check rejects, or gives a sentence, when its part is missing. */
  readiness: Record<string, () => Promise<void>>;
}

/** The express app of an inward service: its endpoints, `/livez`, `/readyz`, `/metrics` and its API description. */
export function serviceApp(options: ServiceAppOptions): Express {
  const app = operatorApp(options);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.get(
    '/openapi.json',
    (_request, response) => void response.json(openApi(options.service, options.endpoints)),
  );
  app.use(endpointRouter(options.endpoints, options));
  app.use(() => {
    throw new Problem('not_found', 'no such path');
  });
  app.use(errorHandler(options.log));
  return app;
}

/** An app with `/livez` (the process answers), `/readyz` (its dependencies do too; 503 names what is missing) and `/metrics`. */
export function operatorApp({
  metrics,
  readiness,
}: Pick<ServiceAppOptions, 'metrics' | 'readiness'>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/livez', (_request, response) => void response.json({ live: true }));
  app.get('/readyz', async (_request, response) => {
    const missing = await missingParts(readiness);
    response.status(missing.length === 0 ? 200 : 503).json({ ready: missing.length === 0, missing });
  });
  app.get(
    '/metrics',
    async (_request, response) => void response.type(metrics.contentType).send(await metrics.text()),
  );
  return app;
}

const checkTimeoutMs = 2_000;

/** Names of the parts whose check failed or did not answer within 2 s. */
export async function missingParts(readiness: ServiceAppOptions['readiness']): Promise<string[]> {
  const checks = Object.entries(readiness).map(async ([part, check]) => {
    const failed = await Promise.race([
      check().then(
        () => false,
        () => true,
      ),
      timeout(checkTimeoutMs),
    ]);
    return failed ? part : undefined;
  });
  return (await Promise.all(checks)).filter((part) => part !== undefined);
}

const timeout = (ms: number) =>
  new Promise<true>((resolve) => setTimeout(resolve, ms, true as const).unref());
