import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../../../simulation/http-response.ts';
import { CodehostError } from '../codehost-error.ts';
import { secondaryLimitMessage } from '../credentials/rate-limits.ts';

const documentation = 'https://docs.github.com/rest';

/**
 * The response to an error that the service reports.
 * @throws any other error unchanged: it is a defect of the sandbox
 */
export function errorResponse(error: unknown): HttpResponse {
  if (error instanceof CodehostError) return failure(error.status, error.message, error.headers);
  throw error;
}

/** The protocol has no error codes: a failure is a status and a message. */
export const codehostErrors: ErrorResponses = {
  throttled: (seconds) => failure(403, secondaryLimitMessage, retryAfter(seconds)),
  error: (status, _code, message) => failure(status, message),
  serverError: () => failure(502, 'Server Error'),
  invalidSignature: () => failure(401, 'Bad credentials'),
};

const failure = (status: number, message: string, headers: Record<string, string> = {}): HttpResponse =>
  jsonResponse(status, { message, documentation_url: documentation, status: String(status) }, headers);
