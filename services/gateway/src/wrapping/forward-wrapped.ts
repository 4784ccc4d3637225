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
  store: ResponseStore;
}

/** Where responses are kept. */
export interface ResponseStore {
  /** Throws `queue_full` if a namespace has no space for another response. */
  requireSpace(namespaceId: string): Promise<void>;
  login: InternalClient;
  /** Called for each response that is refused for want of space. */
  onRefused(): void;
}

/**
 * Forwards a request whose response is to be wrapped: login stores the response and returns a wrapping token, which is
 * all that the client gets (docs/adr/0021-response-wrapping.md). A response without content, an error, and the response
 * of `rewrap`, which is a wrapping token already, are passed on. Returns the status.
 * @throws a problem: `queue_full` if the responses of the namespace take too much space, which is checked before the
 *   request takes effect, and again when its response is stored. After it took effect: `too_large` if the response cannot
 *   be stored, `unavailable` if login does not respond
 */
export async function forwardWrapped(wrapping: Wrapping, response: ServerResponse): Promise<number> {
  const { requestId, path } = wrapping.request.gatewayRequest;
  const isRewrap = path === 'sys/wrapping/rewrap';
  if (!isRewrap) await requireSpace(wrapping);
  const collected = await wrapping.upstream.collect(wrapping.request);
  const outcome = outcomeOf(collected.status, collected.headers);
  if (collected.status !== 200 || isRewrap) {
    await wrapping.request.record(outcome);
    return sendText(response, requestId, collected.status, collected.text, passedOn(collected));
  }
  const wrapInfo = await storeResponse(wrapping, collected);
  const issued = { ...wrapInfo, wrappedAccessor: outcome.issued?.accessor };
  await wrapping.request.record({ ...outcome, issued });
  return sendJson(response, requestId, 200, envelope(requestId, { wrapInfo }));
}

const requireSpace = ({ request, store }: Wrapping) =>
  store.requireSpace(request.caller.namespace.id).catch((error: unknown) => refuse(store, error));

const storeResponse = ({ request, wrapSeconds, store }: Wrapping, { text }: CollectedResponse) =>
  store.login
    .call('POST', '/v1/sys/internal/wrapped-responses', request.caller, {
      response: text,
      ttl_seconds: wrapSeconds,
      creation_path: request.gatewayRequest.path,
    })
    .then((wrapInfo) => wrapInfo as WrapInfo) // login is trusted
    .catch((error: unknown) => refuse(store, error));

function refuse({ onRefused }: ResponseStore, error: unknown): never {
  if (error instanceof Problem && error.kind === 'queue_full') onRefused();
  if (error instanceof Problem && error.kind === 'too_large') refuseTooLarge();
  throw error;
}

const passedOn = ({ headers }: CollectedResponse): string[] =>
  passedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [name, String(headers[name])]));
