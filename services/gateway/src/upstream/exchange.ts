import type { ServerResponse } from 'node:http';
import { maxBodyBytes, type ServiceResponse } from '@secrets/http';
import { ClientDisconnected } from '../request/read-body.ts';
import { refuseTooLarge } from './collected-response.ts';
import { outcomeOf, relayedHeaders } from './relayed-response.ts';
import type { ForwardedRequest, Upstream } from './upstream.ts';

/**
 * Sends a whole request to a service, and returns its whole response; undefined if it has to be sent over HTTP.
 * @throws a problem (`unavailable`)
 */
export type Exchange = (request: ForwardedRequest) => Promise<ServiceResponse | undefined>;

/**
 * A service that is reached in a shorter way than over HTTP, except for streams of events, waits, large
 * messages and operational paths.
 */
export const exchangingUpstream = (exchange: Exchange, overHttp: Upstream): Upstream => ({
  ...overHttp,
  forward: async (request, response) => {
    const served = request.refusal ? undefined : await exchange(request);
    if (response.destroyed) throw new ClientDisconnected();
    return served === undefined ? overHttp.forward(request, response) : passOn(served, request, response);
  },
  collect: async (request) => {
    const served = await exchange(request);
    if (served === undefined) return overHttp.collect(request);
    const { status, headers, text = '' } = served;
    if (Buffer.byteLength(text) > maxBodyBytes) refuseTooLarge();
    return { status, headers, text };
  },
});

/** Passes a complete response to the client, and returns its status. */
export async function passOn(
  { status, headers, text }: ServiceResponse,
  { gatewayRequest, record }: ForwardedRequest,
  response: ServerResponse,
): Promise<number> {
  await record(outcomeOf(status, headers));
  if (response.destroyed) return status;
  const sent = relayedHeaders(gatewayRequest.requestId, headers);
  if (text !== undefined) sent.push('content-length', String(Buffer.byteLength(text)));
  response.writeHead(status, sent);
  response.end(text);
  return status;
}
