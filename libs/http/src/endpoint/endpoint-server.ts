import { parse as parseQuery } from 'node:querystring';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Caller, callerToken } from '@secrets/caller';
import { type JsonBudget, Problem } from '@secrets/domain';
import { type Logger, type Span, traced } from '@secrets/telemetry';
import { failureResponse } from '../problem/failure-response.ts';
import { httpStatus } from '../problem/problem-status.ts';
import type { Endpoint } from './endpoint.ts';
import { bodyBudgets } from './input/body-budgets.ts';
import { parseJsonBody, requireJsonType } from './input/json-body.ts';
import { parseFor } from './parse-request.ts';
import { requireNeededCapability } from './required-capability.ts';
import { type Route, routeTable } from './routing/route-table.ts';
import { replyResponse, type ServiceResponse } from './service-response.ts';

/** The start of a request to a service. */
export interface ReceivedRequest {
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  /** With `/v1`, percent-encoded. */
  path: string;
  /** With `?`; empty if there is none. */
  query: string;
  /** The token that the client sent, on the paths that receive it. */
  callerToken?: string | undefined;
  /** The trace that the request continues. */
  traceparent?: string | undefined;
  /**
   * Returns the caller, if the service `from` sent the request on its behalf.
   * @throws a problem (`forbidden`)
   */
  authenticate(from: string): Caller;
  /** A signal for when the client disconnects, or the service stops. Undefined for requests that cannot know. */
  untilAbandoned?: (() => AbortSignal) | undefined;
  /** Undefined if there is none. It is read only after `authenticate`, so unauthenticated callers do not reach the parser. */
  body: RequestBody | undefined;
}

export interface RequestBody {
  contentType: string | undefined;
  read(): Promise<Buffer>;
}

/** Responds to a request. Never rejects: what a handler throws becomes a response. */
export type ServeRequest = (request: ReceivedRequest) => Promise<ServiceResponse>;

/** Serves the endpoints of a service, however requests arrive. */
export function endpointServer(endpoints: readonly Endpoint[], log: Logger): ServeRequest {
  const find = routeTable(endpoints);
  return async (request) => {
    const served: Served = { requestId: undefined };
    try {
      const query = parseQuery(request.query.slice(1));
      const isList = query.list === 'true' || query.list === '1';
      const route = find({ method: request.method, path: request.path, isList });
      const span = () => ({
        name: `${request.method} ${route.endpoint.path}`,
        kind: 'server' as const,
        parent: request.traceparent,
      });
      return await traced(span, (span) => serveIn(span, served, { ...route, query }, request));
    } catch (error) {
      return failureResponse(error, { ...served, method: request.method }, log);
    }
  };
}

/** Facts that become known while a request is served. */
interface Served {
  requestId: string | undefined;
}

type RouteAndQuery = Route & { query: object };

/** Serves a request, and says in its span what became of it. */
async function serveIn(
  span: Span | undefined,
  served: Served,
  route: RouteAndQuery,
  request: ReceivedRequest,
): Promise<ServiceResponse> {
  if (span === undefined) return serve(served, route, request);
  try {
    const response = await serve(served, route, request);
    span.set({ 'http.response.status_code': response.status });
    return response;
  } catch (error) {
    const status = error instanceof Problem ? httpStatus[error.kind] : 500;
    span.set({ 'http.response.status_code': status });
    if (status >= 500) span.fail(error instanceof Problem ? error.kind : 'internal');
    throw error;
  } finally {
    span.set({ request_id: served.requestId ?? '' });
  }
}

async function serve(
  served: Served,
  { endpoint, params, query }: RouteAndQuery,
  request: ReceivedRequest,
): Promise<ServiceResponse> {
  const caller = request.authenticate(endpoint.from ?? 'gateway');
  served.requestId = caller.requestId;
  requireNeededCapability(endpoint, caller);
  const body = await readJson(request.body, budgetOf(endpoint, caller));
  const warnings: string[] = [];
  const handle = parseFor(endpoint, {
    params,
    query,
    body,
    caller,
    callerToken: callerToken(request.callerToken),
    untilAbandoned: request.untilAbandoned ?? neverAbandoned,
    warn: (sentence) => void warnings.push(sentence),
  });
  const reply = await handle();
  return replyResponse(caller.requestId, reply, warnings);
}

const neverAbandoned = (): AbortSignal => new AbortController().signal;

function budgetOf({ from, budget = 'ordinary' }: Endpoint, caller: Caller): JsonBudget {
  if (from !== undefined && from !== 'gateway') return bodyBudgets.internal;
  return caller.tokenType === null && from === undefined ? bodyBudgets.open : bodyBudgets[budget];
}

async function readJson(body: RequestBody | undefined, budget: JsonBudget): Promise<unknown> {
  if (body === undefined) return undefined;
  requireJsonType(body.contentType);
  const bytes = await body.read();
  const parsed = parseJsonBody(bytes, budget);
  if (bytes.length > largeBytes) await serveOthers();
  return parsed;
}

/** Parsing so many bytes may take a millisecond, and so may each of the steps that follow. */
const largeBytes = 8_192;

/** Lets requests be served that have arrived meanwhile: the first turn comes before the sockets are read, the second after it. */
async function serveOthers(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
