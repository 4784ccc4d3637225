import { isNativeError } from 'node:util/types';
import { Fault } from '@secrets/domain';
import { malformedResponse, networkFault, refusedFault, throwingFaults } from '@secrets/sync-worker';
import { refusals } from './refusals.ts';
import { ResponseError } from './response-error.ts';

/** Runs a call. Its failures become `Fault`s; any other error is thrown as it is. */
export const withFaults = throwingFaults(faultOf);

/**
 * Returns the fault of a failed call. The SDK and its authentication library wrap what the transport threw, so the
 * causes decide. An error of the SDK without such a cause means that it could not decode the response. Any other error
 * is thrown.
 */
export function faultOf(error: unknown, operation: string): Fault {
  const causes = causesOf(error);
  const fault = causes.find((cause) => cause instanceof Fault);
  if (fault !== undefined) return fault;
  const response = causes.find((cause) => cause instanceof ResponseError);
  if (response !== undefined)
    return refusedFault(operation, response, refusals) ?? malformedResponse(operation, response.status);
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
