import { Fault, type FaultKind } from '@secrets/domain';
import { malformedResponse, providerFault, retryAfterSeconds } from '@secrets/sync-worker';
import type { z } from 'zod';
import { ErrorBody } from './schema.ts';

type ErrorContent = z.output<typeof ErrorBody>['error'];

/** A response whose body was read. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed body; undefined if it is not JSON. */
  content: unknown;
}

/** Codes of a name that is in use: of the current API, and of earlier versions of it, which use status 403. */
export const conflictCodes = ['ENV_CONFLICT', 'ENV_ALREADY_EXISTS'] as const;

/** Codes of a request that breaks a rule, among them that sensitive variables are not for development. */
export const badRequestCodes = ['BAD_REQUEST', 'bad_request'] as const;

const kinds: ReadonlyMap<string, FaultKind> = new Map([
  ...conflictCodes.map((code) => [code, 'conflict'] as const),
  ['rate_limited', 'throttled'],
  ['too_many_requests', 'throttled'],
  ['internal_server_error', 'unavailable'],
]);

const whereToLook = 'check project_id, team_id, and what the token may do there';

/**
 * Returns the fault of a response, or undefined if it is a usable one. A 403 is a refused token, a missing permission or, in earlier versions, a name in
 * use; a wrong team is a 403 or a 404.
 */
export function faultOf(operation: string, { status, headers, content }: Answer): Fault | undefined {
  if (status < 300) return content === undefined ? malformedResponse(operation) : undefined;
  const { error = undefined } = ErrorBody.safeParse(content).data ?? {};
  if (error?.invalidToken || error?.missingToken)
    return new Fault('unauthenticated', `${operation}: access_token was not accepted (status ${status})`);
  if (isBusy(status, error)) return new Fault('not_ready', `${operation}: the project is being changed`);
  const fault = errorFault(operation, { status, headers, error }) ?? malformedResponse(operation, status);
  return hasWrongPlace(status, fault) ? new Fault(fault.kind, `${fault.message}; ${whereToLook}`) : fault;
}

/**
 * A change during another one of the same project is status 400, and during a transfer of the project 409
 * (https://vercel.com/docs/rest-api/projects/create-one-or-more-environment-variables#errors). No code is documented for either.
 */
const isBusy = (status: number, error: ErrorContent | undefined): boolean =>
  (status === 409 && !isConflict(error)) || (status === 400 && /ongoing update/i.test(error?.message ?? ''));

const isConflict = (error: ErrorContent | undefined): boolean =>
  conflictCodes.some((code) => code === error?.code);

function errorFault(
  operation: string,
  { status, headers, error }: Pick<Answer, 'status' | 'headers'> & { error: ErrorContent | undefined },
): Fault | undefined {
  const code = error?.code !== undefined && /^[A-Za-z][\w-]{2,63}$/.test(error.code) ? error.code : undefined;
  const wait = retryAfterSeconds(headers.get('retry-after') ?? undefined) ?? untilReset(headers, error);
  return providerFault(operation, { status, code, retryAfterSeconds: wait }, kinds);
}

/** Seconds until the provider's window ends, which it names in seconds since 1970; undefined if it does not. */
function untilReset(headers: Headers, error: ErrorContent | undefined): number | undefined {
  const reset = Number(headers.get('x-ratelimit-reset') ?? error?.limit?.reset ?? Number.NaN);
  const left = Math.ceil(reset - Date.now() / 1000);
  return Number.isNaN(left) ? undefined : retryAfterSeconds(String(Math.max(1, left)));
}

const hasWrongPlace = (status: number, { kind }: Fault): boolean =>
  (status === 403 && kind === 'forbidden') || (status === 404 && kind === 'rejected');

/** The fault of a variable that a creation reports as failed. */
export const creationFault = (operation: string, code: string): Fault =>
  errorFault(operation, { status: 400, headers: new Headers(), error: { ...noDetails, code } }) ??
  malformedResponse(operation);

const noDetails = { message: '', invalidToken: false, missingToken: false };
