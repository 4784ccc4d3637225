import type { ServerResponse } from 'node:http';
import { Problem } from '@secrets/domain';
import { envelope, type InternalClient } from '@secrets/http';
import { sendJson, sendText } from '../send-response.ts';
import { type CollectedResponse, refuseTooLarge } from '../upstream/collected-response.ts';
import { outcomeOf, passedHeaders } from '../upstream/relayed-response.ts';
import type { ForwardedRequest, Upstream } from '../upstream/upstream.ts';

/** The part of a response's `wrap_info` that the gateway reads. */
interface WrapInfo {
  token: string;
  accessor: string;
}

interface Wrapping {
  request: ForwardedRequest;
  wrapSeconds: number;
  upstream: Upstream;
  login: InternalClient;
}

/**
 * Forwards a request whose response is to be wrapped: login stores the response and returns a wrapping token, which is
 * all that the client gets (docs/adr/0021-response-wrapping.md). A response without content, an error, and the response
 * of `rewrap`, which is a wrapping token already, are passed on. Returns the status.
 * @throws a problem, also after the request took effect: `too_large` if the response cannot be stored, `unavailable` if
 *   login does not respond
 */
export async function forwardWrapped(wrapping: Wrapping, response: ServerResponse): Promise<number> {
  const { requestId, path } = wrapping.request.gatewayRequest;
  const collected = await wrapping.upstream.collect(wrapping.request);
  const outcome = outcomeOf(collected.status, collected.headers);
  if (collected.status !== 200 || path === 'sys/wrapping/rewrap') {
    await wrapping.request.record(outcome);
    return sendText(response, requestId, collected.status, collected.text, passedOn(collected));
  }
  const wrapInfo = await store(wrapping, collected);
  const issued = { ...wrapInfo, wrappedAccessor: outcome.issued?.accessor };
  await wrapping.request.record({ ...outcome, issued });
  return sendJson(response, requestId, 200, envelope(requestId, { wrapInfo }));
}

const store = ({ request, wrapSeconds, login }: Wrapping, { text }: CollectedResponse) =>
  login
    .call('POST', '/v1/sys/internal/wrapped-responses', request.caller, {
      response: text,
      ttl_seconds: wrapSeconds,
      creation_path: request.gatewayRequest.path,
    })
    .then((wrapInfo) => wrapInfo as WrapInfo) // login is trusted
    .catch((error: unknown) => {
      if (error instanceof Problem && error.kind === 'too_large') refuseTooLarge();
      throw error;
    });

const passedOn = ({ headers }: CollectedResponse): string[] =>
  passedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [name, String(headers[name])]));
