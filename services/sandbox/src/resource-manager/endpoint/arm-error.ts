import { randomUUID } from 'node:crypto';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../../simulation/http-response.ts';

/**
 * An error of the resource API:
 * https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
 */
export class ArmError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'ArmError';
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A response of the API, with the headers that each has. */
export function armResponse(
  status: number,
  content: unknown,
  headers: Record<string, string> = {},
): HttpResponse {
  const id = randomUUID();
  return jsonResponse(status, content, {
    'x-ms-request-id': id,
    'x-ms-correlation-request-id': id,
    'x-ms-routing-request-id': `SANDBOX:${id}`,
    ...headers,
  });
}

const failure = (
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse =>
  armResponse(status, { error: { code, message } }, { 'x-ms-failure-cause': 'gateway', ...headers });

export const notFound = (code: string, message: string): ArmError => new ArmError(404, code, message);
export const badRequest = (code: string, message: string): ArmError => new ArmError(400, code, message);
export const invalidToken = 'The access token is invalid.';

/** The responses to errors and injected faults. */
export const armErrors: ErrorResponses = {
  own: (error) =>
    error instanceof ArmError ? failure(error.status, error.code, error.message, error.headers) : undefined,
  error: failure,
  throttled: (seconds) =>
    failure(429, 'TooManyRequests', 'The request is being throttled as the limit has been reached.', {
      'x-ms-ratelimit-remaining-subscription-reads': '0',
      ...retryAfter(seconds),
    }),
  serverError: () => failure(500, 'InternalServerError', 'The request failed due to an internal error.'),
  invalidSignature: () => failure(401, 'InvalidAuthenticationToken', invalidToken),
};
