import type { ServerResponse } from 'node:http';
import { Problem } from '@secrets/domain';
import { httpStatus, internalSentence, problemHeaders } from '@secrets/http';

/** Answers with JSON of the gateway's own; gives the status. */
export function sendJson(
  response: ServerResponse,
  requestId: string,
  status: number,
  body: unknown,
  more: string[] = [],
) {
  const text = JSON.stringify(body);
  response.writeHead(status, [
    'x-request-id',
    requestId,
    'cache-control',
    'no-store',
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
    ...more,
  ]);
  response.end(text);
  return status;
}

/** Answers a failure: a problem by its kind and sentences, anything else with a fixed sentence and the request id (docs/conventions.md#13-errors). */
export function sendFailure(response: ServerResponse, requestId: string, failure: unknown): number {
  if (!(failure instanceof Problem))
    return sendJson(response, requestId, 500, { errors: [internalSentence], request_id: requestId });
  const headers = problemHeaders(failure).flat();
  return sendJson(response, requestId, httpStatus[failure.kind], { errors: failure.sentences }, headers);
}
