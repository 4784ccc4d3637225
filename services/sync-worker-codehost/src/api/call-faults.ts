import { isNativeError } from 'node:util/types';
import { Fault } from '@secrets/domain';
import { networkFault, refusedFault, retryAfterSeconds, throwingFaults } from '@secrets/sync-worker';
import { z } from 'zod';
import { refusals } from './refusals.ts';

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
  const { status, headers, data } = response;
  const code = codeOf(response);
  const answer = { status, code, text: data.message, reason: missingPermissions(headers) };
  const fault = refusedFault(operation, { ...answer, retryAfterSeconds: waitSeconds(headers) }, refusals);
  return fault ?? new Fault('unavailable', `${operation}: unexpected status ${status}`);
}

/** The statuses that the driver decides by. */
const codes: ReadonlyMap<number, string> = new Map([
  [401, 'BadCredentials'],
  [404, 'NotFound'],
  [422, 'ValidationFailed'],
]);

/** A name for what the headers or the status say. */
function codeOf(response: ErrorResponse): string | undefined {
  const { status, headers } = response;
  if (status === 403 && /^\s*required\b/i.test(String(headers['x-github-sso'] ?? ''))) return 'X-GitHub-SSO';
  return isRateLimit(response) ? 'RateLimited' : codes.get(status);
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
const isRateLimit = ({ status, headers, data }: ErrorResponse): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['retry-after'] !== undefined ||
      headers['x-ratelimit-remaining'] === '0' ||
      /secondary rate limit|abuse detection/i.test(data.message)));

/**
 * Returns the permissions that the provider names for the call, such as `secrets=write`
 * (https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible).
 */
function missingPermissions(headers: ErrorResponse['headers']): string | undefined {
  const named = String(headers['x-accepted-github-permissions'] ?? '');
  return /^[a-z_]{1,40}=[a-z]{1,10}([,;] ?[a-z_]{1,40}=[a-z]{1,10}){0,7}$/.test(named) ? named : undefined;
}

const defaultWaitSeconds = 60;

/**
 * Returns the seconds that the provider asks to wait: `Retry-After`, else the time until the limit is reset, else a
 * minute.
 */
function waitSeconds(headers: ErrorResponse['headers']): number {
  const header = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
  const asked = retryAfterSeconds(header('retry-after'));
  if (asked !== undefined) return asked;
  if (header('x-ratelimit-remaining') !== '0') return defaultWaitSeconds;
  const now = Date.parse(header('date') ?? '') || Date.now();
  const seconds = Math.ceil(Number(header('x-ratelimit-reset')) - now / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 86_400) : defaultWaitSeconds;
}
