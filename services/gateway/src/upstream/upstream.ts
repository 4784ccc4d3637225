import type { ServerResponse } from 'node:http';
import { type OwningService, receivesToken } from '@secrets/access';
import {
  assertionHeader,
  type Caller,
  callerTokenHeader,
  type InternalKeys,
  signAssertion,
} from '@secrets/caller';
import { errorCode, maxVersionWaitSeconds, Problem } from '@secrets/domain';
import { type InternalTls, openReplicaPool } from '@secrets/http';
import { traceparent } from '@secrets/telemetry';
import type { Dispatcher, Pool } from 'undici';
import type { GatewayRequest } from '../request/gateway-request.ts';
import { ClientDisconnected } from '../request/read-body.ts';
import { longLimits, subscriptionLimits } from '../streams/long-responses.ts';
import { type CollectedResponse, collectResponse } from './collected-response.ts';
import { RelayedResponse, type ServiceOutcome } from './relayed-response.ts';

/** A request to forward: as it was authorized, with its caller and its body. */
export interface ForwardedRequest {
  gatewayRequest: GatewayRequest;
  caller: Caller;
  contentType: string | undefined;
  body: Buffer | undefined;
  /**
   * Present if the response keeps its connection for long: a stream of events, or one that comes after a wait. Once it is
   * aborted, the request is refused with its reason, a problem, unless the service has begun to respond.
   */
  refusal?: AbortSignal;
  /** Records how the service responded. Nothing is sent to the client before it has resolved, or if it rejects. */
  record(outcome: ServiceOutcome): Promise<void>;
}

/** One service behind the gateway. */
export interface Upstream {
  readonly name: OwningService;
  /**
   * Sends a request, signed for this service, passes the response to the client, and returns its status. A failure after
   * the response has begun closes the connection to the client.
   * @throws a problem: `unavailable` if the service does not respond, `bad_gateway` if its response is not valid HTTP;
   *   what `record` throws
   * @throws {ClientDisconnected} if the client disconnects, or its connection had to be closed
   */
  forward(request: ForwardedRequest, response: ServerResponse): Promise<number>;
  /**
   * Sends a request in the same way, and returns the response.
   * @throws a problem: as above, or `too_large` if the response exceeds 1 MiB
   */
  collect(request: ForwardedRequest): Promise<CollectedResponse>;
  /**
   * Sends a request whose response is a stream, and returns its beginning.
   * @throws a problem, as `forward`
   */
  open(request: ForwardedRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /**
   * Returns the names of the dependencies that the service lacks; none if it is ready, even if it is about to stop.
   * Rejects unless it responds within 2 s.
   */
  missing(): Promise<string[]>;
  /** Reads an operational path of the service, such as `/readyz`, as JSON. Rejects unless the status is 200 within 2 s. */
  fetchOwn(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** Base URL of the service, or of its replicas, separated by commas. */
  url: string;
  keys: InternalKeys;
  /** Undefined for connections without TLS, or with that of a proxy before the service. */
  tls?: InternalTls | undefined;
  /** Default 30,000. A set with `wait` deliberately takes up to 5 s. */
  timeoutMs?: number;
}

export const defaultTimeoutMs = 30_000;

/** Opens keep-alive connections to one service. */
export function openUpstream(
  name: OwningService,
  { url, keys, tls, timeoutMs = defaultTimeoutMs }: UpstreamOptions,
): Upstream {
  const open = (connections: number) =>
    openReplicaPool(url, { connections, timeoutMs, secure: tls && { tls, service: name } });
  const pool = open(256);
  const longer = open(longLimits.all + subscriptionLimits.all);
  const longHeadersMs = timeoutMs + maxVersionWaitSeconds * 1_000;
  const send = (request: ForwardedRequest, response: ServerResponse): RelayedResponse => {
    const { method, forwardPath, forwardQuery, requestId } = request.gatewayRequest;
    const relayed = new RelayedResponse(response, requestId, request.record);
    const headers = headersFor(name, keys, request);
    const sent = { method, path: forwardPath + forwardQuery, headers, body: request.body ?? null };
    if (request.refusal === undefined) pool.dispatch(sent, relayed);
    else {
      relayed.refuseOn(request.refusal);
      longer.dispatch({ ...sent, headersTimeout: longHeadersMs }, relayed);
    }
    return relayed;
  };
  return {
    name,
    forward: async (request, response) => {
      const relayed = send(request, response);
      try {
        return await relayed.done;
      } catch (error) {
        const mayRepeat =
          request.gatewayRequest.method === 'GET' && !relayed.hasBegun && wasClosedWhileIdle(error);
        if (mayRepeat)
          return await send(request, response).done.catch((again) => fail(name, again, response));
        return fail(name, error, response);
      }
    },
    open: (request, signal) => openFrom(longer, { name, keys, request, signal }),
    collect: (request) => collectFrom(pool, name, keys, request),
    missing: async () => (await readOwn(pool, name, '/readyz?serving', [200, 503])).missing ?? [],
    fetchOwn: (path) => readOwn(pool, name, path, [200]),
    close: async () => {
      await Promise.all([pool.destroy(), longer.destroy()]);
    },
  };
}

async function readOwn(pool: Pool, name: string, path: string, expected: readonly number[]) {
  const relayed = await pool.request({ method: 'GET', path, headersTimeout: 2_000, bodyTimeout: 2_000 });
  const body = await relayed.body.text();
  if (!expected.includes(relayed.statusCode))
    throw new Error(`${name}: GET ${path} returned status ${relayed.statusCode}`);
  return JSON.parse(body);
}

async function openFrom(
  pool: Pool,
  {
    name,
    keys,
    request,
    signal,
  }: { name: OwningService; keys: InternalKeys; request: ForwardedRequest; signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  const { method, forwardPath, forwardQuery } = request.gatewayRequest;
  const path = forwardPath + forwardQuery;
  const headers = headersFor(name, keys, request);
  try {
    return await pool.request({ method: method as Dispatcher.HttpMethod, path, headers, signal });
  } catch (error) {
    throw problemOf(name, error);
  }
}

async function collectFrom(
  pool: Pool,
  name: OwningService,
  keys: InternalKeys,
  request: ForwardedRequest,
): Promise<CollectedResponse> {
  const { method, forwardPath, forwardQuery } = request.gatewayRequest;
  const send = () =>
    pool.request({
      method: method as Dispatcher.HttpMethod,
      path: forwardPath + forwardQuery,
      headers: headersFor(name, keys, request),
      body: request.body ?? null,
    });
  const again = (error: unknown) => {
    if (method === 'GET' && wasClosedWhileIdle(error)) return send();
    throw error;
  };
  try {
    return await collectResponse(await send().catch(again));
  } catch (error) {
    throw error instanceof Problem ? error : problemOf(name, error);
  }
}

/**
 * The only headers of a forwarded request: those of the client are dropped, except the type of its body, and its token
 * where a path needs it.
 */
function headersFor(to: OwningService, keys: InternalKeys, request: ForwardedRequest): string[] {
  const { gatewayRequest, caller, contentType, body } = request;
  const { method, forwardPath: path, forwardQuery: query } = gatewayRequest;
  const assertion = signAssertion(keys, { from: 'gateway', to, method, path, query, body }, caller);
  const headers = [assertionHeader, assertion];
  if (body !== undefined && contentType !== undefined) headers.push('content-type', contentType);
  const trace = traceparent();
  if (trace !== undefined) headers.push('traceparent', trace);
  if (receivesToken(gatewayRequest.path)) headers.push(callerTokenHeader, gatewayRequest.token ?? '');
  return headers;
}

/** The service closed an idle connection just when it was used again. A read can be repeated. */
const wasClosedWhileIdle = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCode(error) ?? '');

function fail(name: OwningService, cause: unknown, response: ServerResponse): never {
  if (cause instanceof ClientDisconnected || cause instanceof Problem) throw cause;
  if (response.headersSent) {
    response.destroy();
    throw new ClientDisconnected('the response was interrupted', { cause });
  }
  throw problemOf(name, cause);
}

const problemOf = (name: OwningService, cause: unknown): Problem =>
  errorCode(cause)?.startsWith('HPE_')
    ? new Problem('bad_gateway', `${name} failed`, { cause })
    : new Problem('unavailable', `${name} is unavailable`, { cause });
