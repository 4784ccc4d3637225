/** An error response of the real service, with its error code. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'AwsError';
    this.code = code;
    this.status = status;
  }
}

export const invalidRequest = (message: string) => new AwsError('InvalidRequestException', message);
export const invalidParameter = (message: string) => new AwsError('InvalidParameterException', message);
export const notFound = (message: string) => new AwsError('ResourceNotFoundException', message);
export const alreadyExists = (message: string) => new AwsError('ResourceExistsException', message);
export const limitExceeded = (message: string) => new AwsError('LimitExceededException', message);
/** A parameter that violates the API's model: its length, alphabet or range. */
export const validationError = (message: string) => new AwsError('ValidationException', message);

export type AuthenticationErrorKind =
  | 'missing'
  | 'incomplete'
  | 'unknown-key'
  | 'bad-signature'
  | 'expired-token';

/** A request whose signer cannot be verified. Each protocol has its own error codes for the kinds. */
export class AuthenticationError extends Error {
  readonly kind: AuthenticationErrorKind;

  constructor(kind: AuthenticationErrorKind, message: string) {
    super(message);
    this.name = 'AuthenticationError';
    this.kind = kind;
  }
}
