import type { ServerResponse } from 'node:http';
import { receivesToken } from '@secrets/access';
import { permissionDenied } from '@secrets/domain';
import { maxBodyBytes, type ServeRequest, type ServiceResponse } from '@secrets/http';
import { traceparent } from '@secrets/telemetry';
import { ClientDisconnected } from '../request/read-body.ts';
import { refuseTooLarge } from './collected-response.ts';
import { outcomeOf, relayedHeaders } from './relayed-response.ts';
import type { ForwardedRequest, Upstream } from './upstream.ts';

/**
 * A service in this process: it gets requests without a connection between them, and without a signature, because nothing comes from outside.
 * Streams of events and operational paths still take the connection.
 */
export const directUpstream = (serve: ServeRequest, remote: Upstream): Upstream => ({
  ...remote,
  forward: async (request, response) => {
    if (request.isStream) return remote.forward(request, response);
    const served = await serveDirectly(serve, request);
    if (response.destroyed) throw new ClientDisconnected();
    await request.record(outcomeOf(served.status, served.headers));
    return send(response, request.gatewayRequest.requestId, served);
  },
  collect: async (request) => {
    const { status, headers, text = '' } = await serveDirectly(serve, request);
    if (Buffer.byteLength(text) > maxBodyBytes) refuseTooLarge();
    return { status, headers, text };
  },
});

function serveDirectly(serve: ServeRequest, request: ForwardedRequest): Promise<ServiceResponse> {
  const { gatewayRequest, caller, contentType, body } = request;
  const { method, path, forwardPath, forwardQuery, token } = gatewayRequest;
  return serve({
    method,
    path: forwardPath,
    query: forwardQuery,
    callerToken: receivesToken(path) ? (token ?? '') : undefined,
    traceparent: traceparent(),
    body: body === undefined || body.length === 0 ? undefined : { contentType, read: async () => body },
    authenticate: (from) => {
      if (from !== 'gateway') throw permissionDenied();
      return caller;
    },
  });
}

function send(
  response: ServerResponse,
  requestId: string,
  { status, headers, text }: ServiceResponse,
): number {
  if (response.destroyed) return status;
  const sent = relayedHeaders(requestId, headers);
  if (text !== undefined) sent.push('content-length', String(Buffer.byteLength(text)));
  response.writeHead(status, sent);
  response.end(text);
  return status;
}
