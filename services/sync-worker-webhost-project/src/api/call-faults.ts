import type { Fault } from '@secrets/domain';
import { malformedResponse, refusedFault, retryAfterSeconds } from '@secrets/sync-worker';
import type { z } from 'zod';
import { refusals } from './refusals.ts';
import { ErrorBody } from './schema.ts';

type ErrorContent = z.output<typeof ErrorBody>['error'];

/** A response whose body was read. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed body; undefined if it is not JSON. */
  content: unknown;
}

/** Returns the fault of a response, or undefined if it is a usable one. */
export function faultOf(operation: string, { status, headers, content }: Answer): Fault | undefined {
  if (status < 300) return content === undefined ? malformedResponse(operation) : undefined;
  const { error = undefined } = ErrorBody.safeParse(content).data ?? {};
  return errorFault(operation, { status, headers, error }) ?? malformedResponse(operation, status);
}

function errorFault(
  operation: string,
  { status, headers, error }: Pick<Answer, 'status' | 'headers'> & { error: ErrorContent | undefined },
): Fault | undefined {
  const wait = retryAfterSeconds(headers.get('retry-after') ?? undefined) ?? untilReset(headers, error);
  const response = { status, code: codeOf(error), text: error?.message, retryAfterSeconds: wait };
  return refusedFault(operation, response, refusals);
}

/** The provider's code, or the mark of the error that says more. */
function codeOf(error: ErrorContent | undefined): string | undefined {
  const mark = (['invalidToken', 'missingToken', 'saml'] as const).find((name) => error?.[name]);
  const { code } = error ?? {};
  return mark ?? (code !== undefined && /^[A-Za-z][\w-]{2,63}$/.test(code) ? code : undefined);
}

/** Seconds until the provider's window ends, which it names in seconds since 1970; undefined if it does not. */
function untilReset(headers: Headers, error: ErrorContent | undefined): number | undefined {
  const reset = Number(headers.get('x-ratelimit-reset') ?? error?.limit?.reset ?? Number.NaN);
  const left = Math.ceil(reset - Date.now() / 1000);
  return Number.isNaN(left) ? undefined : retryAfterSeconds(String(Math.max(1, left)));
}

/** The fault of a variable that a creation reports as failed. */
export const creationFault = (operation: string, error: ErrorContent): Fault =>
  errorFault(operation, { status: 400, headers: new Headers(), error }) ?? malformedResponse(operation);
