import { isNativeError } from 'node:util/types';
import { Fault, type FaultKind } from '@secrets/domain';
import { malformedResponse, networkFault, providerFault, throwingFaults } from '@secrets/sync-worker';
import { ResponseError } from './response-error.ts';

/**
 * The canonical codes (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto), and the errors of token endpoints
 * (RFC 6749, section 5.2).
 */
const codes: Readonly<Partial<Record<FaultKind, readonly string[]>>> = {
  unauthenticated: [
    'UNAUTHENTICATED',
    'invalid_grant',
    'invalid_client',
    'unauthorized_client',
    'access_denied',
  ],
  forbidden: ['PERMISSION_DENIED'],
  throttled: ['RESOURCE_EXHAUSTED', 'rate_limit_exceeded'],
  unavailable: [
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'ABORTED',
    'INTERNAL',
    'UNKNOWN',
    'CANCELLED',
    'DATA_LOSS',
  ],
  rejected: [
    'INVALID_ARGUMENT',
    'FAILED_PRECONDITION',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'OUT_OF_RANGE',
    'UNIMPLEMENTED',
    'invalid_request',
    'invalid_scope',
    'unsupported_grant_type',
  ],
};

const kinds: ReadonlyMap<string, FaultKind> = new Map(
  Object.entries(codes).flatMap(([kind, listed]) => listed.map((code) => [code, kind as FaultKind] as const)),
);

/** Runs a call. Its failures become `Fault`s; any other error is thrown as it is. */
export const withFaults = throwingFaults(faultOf);

/**
 * Returns the fault of a failed call. The SDK and its authentication library wrap what the transport threw, so the causes decide. An
 * error of the SDK without such a cause means that it could not decode the response. Any other error is thrown.
 */
export function faultOf(error: unknown, operation: string): Fault {
  const causes = causesOf(error);
  const fault = causes.find((cause) => cause instanceof Fault);
  if (fault !== undefined) return fault;
  const response = causes.find((cause) => cause instanceof ResponseError);
  if (response !== undefined)
    return providerFault(operation, response, kinds) ?? malformedResponse(operation, response.status);
  if (!isNativeError(error)) throw error;
  const known = networkFault(operation, error) ?? (isOfSdk(error) ? malformedResponse(operation) : undefined);
  if (known === undefined) throw error;
  return known;
}

/** The error and what caused it, at most ten levels deep. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; isNativeError(cause) && causes.length < 10; cause = cause.cause) causes.push(cause);
  return causes;
}

/** Errors of the SDK have the number of a canonical code. */
const isOfSdk = (error: Error): boolean => 'code' in error && typeof error.code === 'number';
