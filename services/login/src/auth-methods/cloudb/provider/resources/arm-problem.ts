import { RestError } from '@azure/core-rest-pipeline';
import { Problem } from '@secrets/domain';
import { retryAfterMs } from '../../../verification/http/retry-after.ts';
import { unavailable } from '../credentials/token-problem.ts';
import { MissingPermission } from '../provider.ts';

/** The kind of resource that is read, in the plural, and the permission that this needs. */
export interface ResourceRead {
  what: string;
  permission: string;
}

const api = "the provider's API";
/**
 * https://learn.microsoft.com/azure/role-based-access-control/troubleshooting. Policies, locks and proxies refuse with
 * other codes.
 */
const unauthorized = 'AuthorizationFailed';

/** Whether the API says that something does not exist. A 404 without its error code comes from something that is not the API. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof RestError && error.statusCode === 404 && error.code !== undefined;

/** A failure of the SDK as a `Problem`. Nothing of the response but its status becomes part of the message. */
export function armProblem(error: unknown, { what, permission }: ResourceRead): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof RestError)) return unusableResponse(error);
  const { statusCode: status, response, code } = error;
  if (status === undefined)
    return new Problem('unavailable', `${api} does not respond`, { cause: error, retryAfterSeconds: 2 });
  if (status === 429 || status >= 500 || status === 408) {
    const waitMs = retryAfterMs(response, Date.now()) ?? 2_000;
    return unavailable(`${api} ${status === 429 ? 'is overloaded' : `returned status ${status}`}`, waitMs);
  }
  if (status === 401)
    return refused(`${api} does not accept the access token: check tenant_id and environment`);
  if (status === 403 && code === unauthorized) return new MissingPermission(what, permission);
  if (status < 300) return unusableResponse(error);
  if (status === 404)
    return refused(`${api} returned status 404 without a code: its base URL is not that of the provider`);
  return refused(`${api} returned status ${status} for a request for ${what}`);
}

const refused = (sentence: string): Problem => new Problem('bad_gateway', sentence);

export const unusableResponse = (cause: unknown): Problem =>
  new Problem('bad_gateway', `${api} returned a response that is not usable`, { cause });
