import type { ServerResponse } from 'node:http';
import type { OwningService } from '@secrets/access';
import { assertionHeader, type Caller, type InternalKeys, signAssertion } from '@secrets/caller';
import { errorCode, Problem } from '@secrets/domain';
import { Pool } from 'undici';
import type { GatewayRequest } from './gateway-request.ts';
import { ClientDisconnected } from './read-body.ts';
import { RelayedResponse } from './relayed-response.ts';

/** What is sent on: the request as it was judged, its caller, its body. */
export interface ForwardedRequest {
  gatewayRequest: GatewayRequest;
  caller: Caller;
  contentType: string | undefined;
  body: Buffer | undefined;
}

/** One service behind the gateway. */
export interface Upstream {
  readonly name: OwningService;
  /**
   * Sends a request, signed for this service, and passes its answer on to the client; gives the answer's status.
   * Throws `unavailable` when the service does not answer, `bad_gateway` when what it answers is no HTTP, and
   * `ClientDisconnected`. After an answer has begun, a failure cuts the connection to the client.
   */
  forward(request: ForwardedRequest, response: ServerResponse): Promise<number>;
  /** GETs a path of the service's own, such as `/readyz`; rejects unless it answers 200 in 2 s. */
  fetchOwn(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  url: string;
  keys: InternalKeys;
  /** Default 30 s; the longest that a service may take on purpose is 5 s (`wait`). */
  timeoutMs?: number;
}

/** Opens kept-alive connections to one service. */
export function openUpstream(
  name: OwningService,
  { url, keys, timeoutMs = 30_000 }: UpstreamOptions,
): Upstream {
  const pool = new Pool(url, {
    connections: 256,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: 5_000 },
  });
  const send = (request: ForwardedRequest, response: ServerResponse): RelayedResponse => {
    const { gatewayRequest, caller, body } = request;
    const relayed = new RelayedResponse(response, gatewayRequest.requestId);
    const assertion = signAssertion(
      keys,
      { from: 'gateway', to: name, method: gatewayRequest.method, path: gatewayRequest.forwardPath },
      caller,
    );
    const headers = [assertionHeader, assertion];
    if (body !== undefined && request.contentType !== undefined)
      headers.push('content-type', request.contentType);
    pool.dispatch(
      {
        method: gatewayRequest.method,
        path: gatewayRequest.forwardPath + gatewayRequest.forwardQuery,
        headers,
        body: body ?? null,
      },
      relayed,
    );
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
          request.gatewayRequest.method === 'GET' && !relayed.hasBegun && wasIdleTooLong(error);
        if (mayRepeat)
          return await send(request, response).done.catch((again) => fail(name, again, response));
        return fail(name, error, response);
      }
    },
    fetchOwn: async (path) => {
      const relayed = await pool.request({ method: 'GET', path, headersTimeout: 2_000, bodyTimeout: 2_000 });
      const body = await relayed.body.text();
      if (relayed.statusCode !== 200) throw new Error(`${name} answers ${path} with ${relayed.statusCode}`);
      return JSON.parse(body);
    },
    close: () => pool.destroy(),
  };
}

/** The service closed a kept connection at the moment of its next use: a read may simply be sent again. */
const wasIdleTooLong = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCode(error) ?? '');

function fail(name: OwningService, cause: unknown, response: ServerResponse): never {
  if (cause instanceof ClientDisconnected) throw cause;
  if (response.headersSent) {
    response.destroy();
    throw new ClientDisconnected('the answer broke off', { cause });
  }
  if (errorCode(cause)?.startsWith('HPE_')) throw new Problem('bad_gateway', `${name} failed`, { cause });
  throw new Problem('unavailable', `${name} does not answer`, { cause });
}
