import { type ErrorResponses, jsonResponse, retryAfter } from '../../simulation/http-response.ts';

/** An error of the API. `details` are further fields of its error object. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object;

  constructor(status: number, code: string, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** The error object, as in an error response and in `failed`. */
  get content(): object {
    return { code: this.code, message: this.message, ...this.details };
  }
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

export const notFound = (what: string): ApiError => new ApiError(404, 'not_found', `${what} not found.`);

export const forbidden = (message: string, details: object = {}): ApiError =>
  new ApiError(403, 'forbidden', message, details);

const limit = 120;
const windowSeconds = 60;

/**
 * The responses to errors and injected faults. A throttled call names the end of its window in `X-RateLimit-Reset` and in the
 * body, and has a `Retry-After` only if the fault sets one (https://vercel.com/docs/rest-api#rate-limits).
 */
export const errorsAt = (now: () => number): ErrorResponses => ({
  own: (error) =>
    error instanceof ApiError ? jsonResponse(error.status, { error: error.content }) : undefined,
  throttled(seconds) {
    const resetMs = now() + (seconds ?? windowSeconds) * 1000;
    const reset = Math.ceil(resetMs / 1000);
    const message = `The rate limit of ${limit} exceeded for 'api-project-env'. Try again later`;
    const error = { code: 'rate_limited', message, limit: { remaining: 0, reset, resetMs, total: limit } };
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
    };
    return jsonResponse(429, { error }, { ...headers, ...retryAfter(seconds) });
  },
  error: (status, code, message) => jsonResponse(status, { error: { code, message } }),
  serverError: () =>
    jsonResponse(500, {
      error: { code: 'internal_server_error', message: 'An unexpected internal error occurred' },
    }),
  invalidSignature: () => jsonResponse(403, { error: invalidToken.content }),
});

export const invalidToken = forbidden('Not authorized', { invalidToken: true });
