import { isNativeError } from 'node:util/types';
import { Fault, type FaultKind } from '@secrets/domain';
import {
  malformedResponse,
  networkFault,
  providerFault,
  retryAfterSeconds,
  throwingFaults,
} from '@secrets/sync-worker';

/**
 * Error codes of the provider's two services
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/CommonErrors.html, each operation's own errors, and
 * https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html).
 */
const codes: Readonly<Partial<Record<FaultKind, readonly string[]>>> = {
  unauthenticated: [
    'UnrecognizedClientException',
    'InvalidClientTokenId',
    'InvalidAccessKeyId',
    'InvalidSignatureException',
    'SignatureDoesNotMatch',
    'IncompleteSignature',
    'IncompleteSignatureException',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'ExpiredToken',
    'ExpiredTokenException',
    'RequestExpired',
    'AuthFailure',
    'CredentialsProviderError',
    'InvalidIdentityTokenException',
    'IDPRejectedClaimException',
  ],
  forbidden: [
    'AccessDenied',
    'AccessDeniedException',
    'NotAuthorized',
    'OptInRequired',
    'RegionDisabledException',
  ],
  throttled: [
    'Throttling',
    'ThrottlingException',
    'ThrottledException',
    'RequestLimitExceeded',
    'RequestThrottled',
    'RequestThrottledException',
    'TooManyRequestsException',
    'SlowDown',
    'PriorRequestNotComplete',
  ],
  unavailable: [
    'InternalServiceError',
    'InternalFailure',
    'ServiceUnavailable',
    'ServiceUnavailableException',
    'RequestTimeout',
    'RequestTimeoutException',
    'IDPCommunicationErrorException',
  ],
  rejected: [
    'DecryptionFailure',
    'EncryptionFailure',
    'LimitExceededException',
    'InvalidParameterException',
    'InvalidRequestException',
    'PreconditionNotMetException',
    'MalformedPolicyDocumentException',
    'ResourceExistsException',
    'ResourceNotFoundException',
    'ValidationException',
    'ValidationError',
  ],
};

const kinds: ReadonlyMap<string, FaultKind> = new Map(
  Object.entries(codes).flatMap(([kind, listed]) => listed.map((code) => [code, kind as FaultKind] as const)),
);

/** What the SDK attaches to the errors that it creates from a response. */
interface ResponseMetadata {
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number; headers?: Record<string, string | undefined> };
}

/** Runs a call. Its failures become `Fault`s; any other error is thrown as it is. */
export const withFaults = throwingFaults(faultOf);

/** Returns the fault of a failed call. An error that is not a failure of the call is thrown. */
export function faultOf(error: unknown, operation: string): Fault {
  if (error instanceof Fault) return error;
  if (!isNativeError(error)) throw error;
  const { $metadata, $response } = error as ResponseMetadata;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  const fault =
    (status === undefined ? undefined : errorResponseFault(operation, error, status)) ??
    missingCredentials(operation, error) ??
    networkFault(operation, error) ??
    (status === undefined ? undefined : malformedResponse(operation, status));
  if (fault === undefined) throw error;
  return fault;
}

function errorResponseFault(
  operation: string,
  { name, $response }: Error & ResponseMetadata,
  status: number,
): Fault | undefined {
  const code = isCode(name) ? name : undefined;
  const wait = retryAfterSeconds($response?.headers?.['retry-after']);
  return providerFault(operation, { status, code, retryAfterSeconds: wait }, kinds);
}

/** The SDK uses the error's name for the code; these two names are its own. */
const isCode = (name: string): boolean =>
  /^[A-Z][A-Za-z0-9]{2,63}$/.test(name) && name !== 'Error' && name !== 'SyntaxError';

const missingCredentials = (operation: string, { name }: Error): Fault | undefined =>
  name === 'CredentialsProviderError'
    ? new Fault(
        'unauthenticated',
        `${operation}: neither the destination nor the worker's environment has credentials`,
      )
    : undefined;
