/** The canonical codes of google.rpc.Code that are used here, with their HTTP status. */
const statuses = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
} as const;

/** A message of google.rpc in the details of an error. */
export type ErrorDetail = Record<string, unknown> & { '@type': string };

/** An error response of the real service (google.rpc.Status). */
export class GoogleError extends Error {
  readonly code: keyof typeof statuses;
  readonly details: readonly ErrorDetail[];

  constructor(code: keyof typeof statuses, message: string, details: readonly ErrorDetail[] = []) {
    super(message);
    this.name = 'GoogleError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return statuses[this.code];
  }
}

export const notFound = (message: string) => new GoogleError('NOT_FOUND', message);
export const failedPrecondition = (message: string) => new GoogleError('FAILED_PRECONDITION', message);

/** A field of the request that violates the API's rules. */
export const invalidArgument = (field: string, description: string) =>
  new GoogleError('INVALID_ARGUMENT', description, [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description }] },
  ]);

/** The machine-readable reason of an error. */
export const errorInfo = (reason: string, metadata: Record<string, string> = {}): ErrorDetail => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
  metadata: { service: 'secretmanager.googleapis.com', ...metadata },
});
