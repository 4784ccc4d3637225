import { isNativeError } from 'node:util/types';
import { Fault, type FaultKind } from '@secrets/domain';
import { networkFault, providerFault, retryAfterSeconds, throwingFaults } from '@secrets/sync-worker';
import { z } from 'zod';

/** The provider sends no error codes. These names denote what its status, headers and message say. */
const kinds: ReadonlyMap<string, FaultKind> = new Map([
  ['RateLimited', 'throttled'],
  ['NotFound', 'rejected'],
  ['ValidationFailed', 'rejected'],
]);

const codes: ReadonlyMap<number, string> = new Map([
  [404, 'NotFound'],
  [422, 'ValidationFailed'],
]);

/** The part of an error of the provider's client that is read. Its own message may contain values. */
const ErrorResponse = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.unknown()).default({}),
  data: z.object({ message: z.string() }).catch({ message: '' }),
});
type ErrorResponse = z.infer<typeof ErrorResponse>;

/** Runs a call. Its failures become `Fault`s; any other error is thrown as it is. */
export const withFaults = throwingFaults(faultOf);

/** Returns the fault of a failed call. An error that is not a failure of the call is thrown. */
export function faultOf(error: unknown, operation: string): Fault {
  if (error instanceof Fault) return error;
  if (typeof error !== 'object' || error === null) throw error;
  const { response, cause } = error as { response?: unknown; cause?: unknown };
  if (response !== undefined) return errorResponseFault(operation, ErrorResponse.parse(response));
  if (cause instanceof Fault) return cause;
  const reason = (cause ?? error) as Error;
  const fault = networkFault(operation, reason);
  if (fault !== undefined) return fault;
  throw isNativeError(reason) ? reason : error;
}

function errorResponseFault(operation: string, response: ErrorResponse): Fault {
  const { status } = response;
  if (isRateLimit(response)) {
    const limited = { status, code: 'RateLimited', retryAfterSeconds: waitSeconds(response) };
    return providerFault(operation, limited, kinds) as Fault;
  }
  if (isSuspension(response))
    return new Fault('unauthenticated', `${operation}: the installation is suspended`);
  const fault = providerFault(operation, { status, code: codes.get(status) }, kinds);
  return fault ?? new Fault('unavailable', `${operation}: unexpected status ${status}`);
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
const isRateLimit = ({ status, headers, data }: ErrorResponse): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['retry-after'] !== undefined ||
      headers['x-ratelimit-remaining'] === '0' ||
      /secondary rate limit|abuse detection/i.test(data.message)));

const isSuspension = ({ status, data }: ErrorResponse): boolean =>
  status === 403 && /installation .*suspended/i.test(data.message);

const defaultWaitSeconds = 60;

/** What the provider asks for: a number of seconds, else the time at which the limit is reset, else a minute. */
function waitSeconds({ headers }: ErrorResponse): number {
  const header = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
  const asked = retryAfterSeconds(header('retry-after'));
  if (asked !== undefined) return asked;
  if (header('x-ratelimit-remaining') !== '0') return defaultWaitSeconds;
  const now = Date.parse(header('date') ?? '') || Date.now();
  const seconds = Math.ceil(Number(header('x-ratelimit-reset')) - now / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 86_400) : defaultWaitSeconds;
}
