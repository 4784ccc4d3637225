import { isNativeError } from 'node:util/types';
import { errorCode, Fault, type FaultKind } from '@secrets/domain';

/** Error codes of the provider's two services (API references, "Common errors" and each operation's own). */
const kinds: Readonly<Record<string, FaultKind>> = {
  UnrecognizedClientException: 'unauthenticated',
  InvalidClientTokenId: 'unauthenticated',
  InvalidAccessKeyId: 'unauthenticated',
  InvalidSignatureException: 'unauthenticated',
  SignatureDoesNotMatch: 'unauthenticated',
  IncompleteSignature: 'unauthenticated',
  IncompleteSignatureException: 'unauthenticated',
  MissingAuthenticationToken: 'unauthenticated',
  MissingAuthenticationTokenException: 'unauthenticated',
  ExpiredToken: 'unauthenticated',
  ExpiredTokenException: 'unauthenticated',
  RequestExpired: 'unauthenticated',
  AuthFailure: 'unauthenticated',
  CredentialsProviderError: 'unauthenticated',
  AccessDenied: 'forbidden',
  AccessDeniedException: 'forbidden',
  NotAuthorized: 'forbidden',
  OptInRequired: 'forbidden',
  RegionDisabledException: 'forbidden',
  Throttling: 'throttled',
  ThrottlingException: 'throttled',
  ThrottledException: 'throttled',
  RequestLimitExceeded: 'throttled',
  RequestThrottled: 'throttled',
  RequestThrottledException: 'throttled',
  TooManyRequestsException: 'throttled',
  SlowDown: 'throttled',
  PriorRequestNotComplete: 'throttled',
  InternalServiceError: 'unavailable',
  InternalFailure: 'unavailable',
  ServiceUnavailable: 'unavailable',
  ServiceUnavailableException: 'unavailable',
  RequestTimeout: 'unavailable',
  RequestTimeoutException: 'unavailable',
  DecryptionFailure: 'rejected',
  EncryptionFailure: 'rejected',
  LimitExceededException: 'rejected',
  InvalidParameterException: 'rejected',
  InvalidRequestException: 'rejected',
  PreconditionNotMetException: 'rejected',
  MalformedPolicyDocumentException: 'rejected',
  ResourceExistsException: 'rejected',
  ResourceNotFoundException: 'rejected',
  ValidationException: 'rejected',
  ValidationError: 'rejected',
};

const sentences: Readonly<Record<FaultKind, string>> = {
  unauthenticated: 'the credentials are refused',
  forbidden: 'the credentials may not do this',
  rejected: 'the request is refused',
  too_large: 'the value is too large',
  conflict: 'the name is taken',
  throttled: 'too many requests',
  not_ready: 'the secret is not ready yet',
  unavailable: 'the service is not available',
};

/** What the SDK hangs on the errors that it makes of an answer. */
interface Answered {
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number; headers?: Record<string, string | undefined> };
}

/** A failed call, with the provider's error code. */
class ProviderFault extends Fault {
  readonly code: string;

  constructor(kind: FaultKind, sentence: string, code: string, options: { retryAfterSeconds?: number }) {
    super(kind, sentence, options);
    this.code = code;
  }
}

/** Whether the failure is one of these codes of the provider. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof ProviderFault && codes.includes(error.code);

/**
 * The fault that a failed call is. `doing` is the operation that failed, which is also the name of the permission that
 * it needs. The sentence holds the provider's error code and never its message, which may hold values. What is no
 * failure of the call is thrown on.
 */
export function faultOf(error: unknown, doing: string): Fault {
  if (error instanceof Fault) return error;
  if (!isNativeError(error)) throw error;
  const { status, headers } = responseOf(error);
  const kind = kinds[error.name] ?? kindOfStatus(status);
  if (kind !== undefined && status !== undefined) {
    const code = isCode(error.name) ? error.name : `status ${status}`;
    return new ProviderFault(
      kind,
      `${doing}: ${sentences[kind]} (${code})`,
      error.name,
      waitIn(kind, headers),
    );
  }
  if (error.name === 'CredentialsProviderError') {
    return new Fault(
      'unauthenticated',
      `${doing}: neither the destination nor the environment has credentials`,
    );
  }
  const reason = networkReason(error) ?? (status === undefined ? undefined : malformedResponse(status));
  if (reason === undefined) throw error;
  return new Fault('unavailable', `${doing}: ${reason}`);
}

/** Does something whose failures become faults. */
export async function faulting<Outcome>(doing: string, act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await act();
  } catch (error) {
    throw faultOf(error, doing);
  }
}

function responseOf(error: Error & Answered) {
  const { $metadata, $response } = error;
  return { status: $metadata?.httpStatusCode ?? $response?.statusCode, headers: $response?.headers ?? {} };
}

/** For a code that is not in the table. */
function kindOfStatus(status: number | undefined): FaultKind | undefined {
  if (status === undefined || status < 400) return undefined;
  if (status >= 500) return 'unavailable';
  if (status === 429) return 'throttled';
  if (status === 401) return 'unauthenticated';
  return status === 403 ? 'forbidden' : 'rejected';
}

const isCode = (name: string): boolean =>
  /^[A-Z][A-Za-z0-9]{2,63}$/.test(name) && name !== 'Error' && name !== 'SyntaxError';

const malformedResponse = (status: number): string =>
  status >= 300 && status < 400
    ? 'the service answered with a redirect, which is not followed'
    : 'the answer cannot be understood';

const networkCodes = /^(E[A-Z]{3,}|ERR_SOCKET.*|ERR_STREAM.*|HPE_.*|EAI_.*)$/;
const tlsCodes = /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_/;

function networkReason(error: Error): string | undefined {
  const code = errorCode(error) ?? '';
  if (tlsCodes.test(code)) return `the service's certificate is not accepted (${code})`;
  if (networkCodes.test(code)) return `the connection failed (${code})`;
  if (error.name === 'AbortError') return 'the call was given up when its time was over';
  if (error.name === 'TimeoutError') return 'the service does not answer in time';
  return error.message === 'socket hang up' ? 'the connection was closed' : undefined;
}

function waitIn(
  kind: FaultKind,
  headers: Record<string, string | undefined>,
): { retryAfterSeconds?: number } {
  const seconds =
    kind === 'throttled' || kind === 'unavailable' ? retryAfter(headers['retry-after']) : undefined;
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}

const maxWaitSeconds = 86_400;

function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - Date.now()) / 1000);
  return Number.isNaN(seconds) || seconds < 0 ? undefined : Math.min(seconds, maxWaitSeconds);
}
