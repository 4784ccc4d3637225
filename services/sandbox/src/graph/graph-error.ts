import { randomUUID } from 'node:crypto';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../simulation/http-response.ts';

/** An error of Graph: https://learn.microsoft.com/graph/errors */
export class GraphError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'GraphError';
    this.status = status;
    this.code = code;
  }
}

export const badRequest = (message: string): GraphError => new GraphError(400, 'Request_BadRequest', message);

export const notFound = (id: string): GraphError =>
  new GraphError(
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  );

export const unauthorized = (message: string): GraphError =>
  new GraphError(401, 'InvalidAuthenticationToken', message);

function failure(
  nowMs: number,
  { status, code, message }: Pick<GraphError, 'status' | 'code' | 'message'>,
  headers: Record<string, string> = {},
): HttpResponse {
  const id = randomUUID();
  const innerError = {
    date: new Date(nowMs).toISOString().slice(0, 19),
    'request-id': id,
    'client-request-id': id,
  };
  return jsonResponse(status, { error: { code, message, innerError } }, { 'request-id': id, ...headers });
}

/** The responses to errors and injected faults. */
export const errorsAt = (now: () => number): ErrorResponses => ({
  own: (error) => (error instanceof GraphError ? failure(now(), error) : undefined),
  error: (status, code, message) => failure(now(), { status, code, message }),
  throttled: (seconds) =>
    failure(
      now(),
      { status: 429, code: 'TooManyRequests', message: 'Too many requests' },
      retryAfter(seconds),
    ),
  serverError: () =>
    failure(now(), {
      status: 500,
      code: 'InternalServerError',
      message: 'An internal server error occurred.',
    }),
  invalidSignature: () => failure(now(), unauthorized('Signing key is invalid.')),
});
