import { isNativeError } from 'node:util/types';
import { Fault } from '@secrets/domain';
import {
  malformedResponse,
  networkFault,
  refusedFault,
  retryAfterSeconds,
  throwingFaults,
} from '@secrets/sync-worker';
import { refusals } from './refusals.ts';

/** Properties that the SDK attaches to errors that it creates from a response. */
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
    withoutCredentials(operation, error) ??
    missingCredentials(operation, error) ??
    networkFault(operation, error) ??
    (status === undefined ? undefined : malformedResponse(operation, status));
  if (fault === undefined) throw error;
  return fault;
}

function errorResponseFault(
  operation: string,
  { name, message, $response }: Error & ResponseMetadata,
  status: number,
): Fault | undefined {
  const code = isCode(name) ? name : undefined;
  const wait = retryAfterSeconds($response?.headers?.['retry-after']);
  return refusedFault(operation, { status, code, text: message, retryAfterSeconds: wait }, refusals);
}

/** The SDK uses the error's name for the code; these two names are its own. */
const isCode = (name: string): boolean =>
  /^[A-Z][A-Za-z0-9]{2,63}$/.test(name) && name !== 'Error' && name !== 'SyntaxError';

/** The SDK throws this, with the ARN of the role, for a successful response in which there are no credentials. */
const withoutCredentials = (operation: string, { message }: Error): Fault | undefined =>
  message.startsWith('Invalid response from STS') ? malformedResponse(operation, 200) : undefined;

const missingCredentials = (operation: string, { name }: Error): Fault | undefined =>
  name === 'CredentialsProviderError'
    ? new Fault(
        'unauthenticated',
        `${operation}: neither the destination nor the worker's environment has credentials`,
      )
    : undefined;
