import type { ServerResponse } from 'node:http';
import { Problem } from '@secrets/domain';
import { httpStatus, internalSentence, problemHeaders } from '@secrets/http';
import { productVersion } from './local/versions.ts';

/** The headers of every response to a client, as a list of names and values. */
export const commonHeaders = (requestId: string, cacheControl = 'no-store'): string[] => [
  ...['x-request-id', requestId, 'x-service-version', productVersion, 'cache-control', cacheControl],
];

/** Sends a JSON response of the gateway itself, and returns its status. */
export function sendJson(
  response: ServerResponse,
  requestId: string,
  status: number,
  body: unknown,
  more: string[] = [],
) {
  const type = ['content-type', 'application/json'];
  return sendText(response, requestId, status, JSON.stringify(body), [...type, ...more]);
}

/** Sends a complete response, and returns its status. */
export function sendText(
  response: ServerResponse,
  requestId: string,
  status: number,
  text: string,
  more: string[],
): number {
  const length = status === 204 ? [] : ['content-length', String(Buffer.byteLength(text))];
  response.writeHead(status, [...commonHeaders(requestId), ...length, ...more]);
  response.end(text);
  return status;
}

/** The status of the response that `sendFailure` sends. */
export const failureStatus = (failure: unknown): number =>
  failure instanceof Problem ? httpStatus[failure.kind] : 500;

/**
 * Sends a problem with its status and sentences, and any other error as 500 with the request id
 * (docs/conventions/http.md#errors). Returns the status.
 */
export function sendFailure(response: ServerResponse, requestId: string, failure: unknown): number {
  if (!(failure instanceof Problem))
    return sendJson(response, requestId, 500, { errors: [internalSentence], request_id: requestId });
  const headers = problemHeaders(failure).flat();
  return sendJson(response, requestId, failureStatus(failure), { errors: failure.sentences }, headers);
}
