import express, { type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import type { Lag } from '../../../faults/fault-injector.ts';
import type { FederatedCredentials } from '../../../federation/federated-credential.ts';
import { type CallContext, serveCall } from '../../../simulation/serve-call.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import { invalidArgument } from '../google-error.ts';
import type { OperationContext, OperationInput } from '../operations/operation.ts';
import { routes } from '../operations/operations.ts';
import { endpointLocation, requireOwnEndpoint } from './endpoint-location.ts';
import { googleErrors, resultResponse } from './google-protocol.ts';

/** The state of the simulated cloud that its endpoints use. */
export interface CloudCContext extends Pick<OperationContext, 'store' | 'projects' | 'limits' | 'keys'> {
  calls: Omit<CallContext, 'errors'>;
  tokens: AccessTokens;
  /** The identities that may use the API or a service account. */
  federation: FederatedCredentials;
}

type Route = (typeof routes)[number];

/** Serves the calls of the API below `/v1/projects`; other requests pass. */
export function secretsRoutes(context: CloudCContext): RequestHandler {
  const router = express.Router();
  const parseBody = express.json({ type: () => true, limit: '2mb', strict: false });
  router.use('/v1/projects', parseBody, async (request, response, next) => {
    const path = request.baseUrl.slice(request.baseUrl.lastIndexOf('/v1/')) + request.path;
    const route = routes.find(({ method, path: pattern }) => method === request.method && pattern.test(path));
    if (route === undefined) next();
    else
      await serve(context, route, inputOf(request, route.path.exec(path)?.groups ?? {}), {
        request,
        response,
      });
  });
  return router;
}

function inputOf(request: Request, groups: Record<string, string>): OperationInput {
  const { project = '', location, secret = '', version = '' } = groups;
  const query = Object.fromEntries(
    Object.entries(request.query).map(([name, value]) => [name, String(value)]),
  );
  const body: unknown = request.body;
  return {
    project: decodeURIComponent(project),
    location: location && decodeURIComponent(location),
    secret: decodeURIComponent(secret),
    version: decodeURIComponent(version),
    query,
    body: typeof body === 'object' && body !== null ? { ...body } : {},
  };
}

async function serve(
  context: CloudCContext,
  route: Route,
  input: OperationInput,
  { request, response }: { request: Request; response: Response },
): Promise<void> {
  const name = (input.secret || input.query.secretId || '').slice(0, 512);
  const sent = [...Object.keys(input.query), ...Object.keys(input.body)].slice(0, 32);
  const call = {
    operation: route.operation,
    name: name || undefined,
    region: input.project.slice(0, 128),
    sent,
  };
  const calls = { ...context.calls, errors: googleErrors };
  await serveCall(calls, call, response, async (lag) => {
    const nowMs = context.calls.now();
    await context.tokens.caller(request.headers.authorization, nowMs);
    requireOwnEndpoint(endpointLocation(request), input);
    const staleMs = lagOf(route, input, lag);
    const store = staleMs === 0 ? context.store : context.store.asOf(nowMs - staleMs);
    const result = withValidationErrors(() => route.run({ ...context, store, nowMs }, input));
    const alt = input.query.$alt ?? input.query.alt ?? '';
    return resultResponse(result, { numericEnums: alt.includes('enum-encoding=int') });
  });
}

/**
 * Returns how many milliseconds the response is behind the current state. Only the access to a version by its number is
 * strongly consistent, not that by an alias or `latest`
 * (https://docs.cloud.google.com/secret-manager/docs/reference/consistency).
 */
function lagOf({ operation }: Route, { version }: OperationInput, { readMs, listMs }: Lag): number {
  if (operation.startsWith('List')) return listMs;
  const isRead = operation.startsWith('Get') || operation === 'AccessSecretVersion';
  const isByNumber = operation === 'AccessSecretVersion' && /^\d+$/.test(version);
  return isRead && !isByNumber ? readMs : 0;
}

/** Turns an input of the wrong shape into the service's `INVALID_ARGUMENT`. */
function withValidationErrors(run: () => object): object {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const field = error.issues[0]?.path.join('.') ?? '';
    throw invalidArgument(field, `Invalid value at '${field}'.`);
  }
}
