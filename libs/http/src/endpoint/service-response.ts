import type { ServerResponse } from 'node:http';
import type { Problem } from '@secrets/domain';
import { httpStatus, problemHeaders } from '../problem/problem-status.ts';
import { issuedHeaders, reasonHeader, reasonValue } from './audit-headers.ts';
import { eventStreamType } from './endpoint.ts';
import { envelope, type Reply, restoredEnvelope } from './envelope.ts';

/** The response of a service, however it is sent. */
export interface ServiceResponse {
  status: number;
  /** By lower-case names. */
  headers: Record<string, string>;
  /** JSON; undefined if there is no content. */
  text?: string | undefined;
  /** Writes the events of a response that is a stream of them, and ends it. */
  eventStream?: ((response: ServerResponse) => void) | undefined;
}

const json = { 'content-type': 'application/json' };

/** The message of every 500. The log has the cause. */
export const internalSentence = 'internal error; search the log for this request ID';

/** The response to a request that was served, with additional warnings. */
export function replyResponse(
  requestId: string,
  reply: Reply | undefined,
  warnings: readonly string[],
): ServiceResponse {
  const headers = { 'x-request-id': requestId, ...Object.fromEntries(issuedHeaders(reply)) };
  if (reply?.eventStream !== undefined) {
    const streamed = { ...headers, 'content-type': eventStreamType, 'cache-control': 'no-store' };
    return { status: 200, headers: streamed, eventStream: reply.eventStream };
  }
  if (reply?.document !== undefined) {
    const { content, maxAgeSeconds } = reply.document;
    const cached = maxAgeSeconds === undefined ? {} : { 'cache-control': `public, max-age=${maxAgeSeconds}` };
    const status = reply.status ?? 200;
    return { status, headers: { ...headers, ...json, ...cached }, text: JSON.stringify(content) };
  }
  if (reply?.stored !== undefined)
    return { status: 200, headers: { ...headers, ...json }, text: restoredEnvelope(requestId, reply.stored) };
  if (reply === undefined && warnings.length === 0) return { status: 204, headers };
  const all = { ...reply, warnings: [...(reply?.warnings ?? []), ...warnings] };
  const text = JSON.stringify(envelope(requestId, all));
  return { status: reply?.status ?? 200, headers: { ...headers, ...json }, text };
}

/** The response to a request that was refused: `{"errors": [sentence, …]}` and the problem's status and headers. */
export function problemResponse(requestId: string | undefined, problem: Problem): ServiceResponse {
  const { sentences } = problem;
  const headers = {
    ...json,
    ...Object.fromEntries(problemHeaders(problem)),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    ...(sentences.length === 0 ? {} : { [reasonHeader]: reasonValue(sentences) }),
  };
  return { status: httpStatus[problem.kind], headers, text: JSON.stringify({ errors: sentences }) };
}

/** The response to a request that failed unexpectedly. */
export const internalErrorResponse = (requestId: string | undefined): ServiceResponse => ({
  status: 500,
  headers: { ...json, [reasonHeader]: reasonValue([internalSentence]) },
  text: JSON.stringify({ errors: [internalSentence], request_id: requestId }),
});
