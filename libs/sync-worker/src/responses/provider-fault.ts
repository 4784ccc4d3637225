import { Fault, type FaultKind } from '@secrets/domain';

/** The parts of a provider's error response that determine the fault. */
export interface ErrorResponse {
  status: number;
  /** The provider's error code, such as `AccessDeniedException`; undefined if the response has none. */
  code?: string | undefined;
  /** What the provider adds to its code, in a form as harmless, such as `SERVICE_DISABLED`. Only part of the message. */
  reason?: string | undefined;
  /** How long the provider asks to wait; see `retryAfterSeconds`. */
  retryAfterSeconds?: number | undefined;
}

/** Meaning of a provider's error code: a kind of fault, or a rejection that may no longer apply later (`Fault.mayPass`). */
export type CodeKind = FaultKind | 'rejected_for_now';

/** The fault of an error response, with the provider's error code. */
class ProviderFault extends Fault {
  readonly code: string | undefined;

  constructor(given: CodeKind, message: string, { code, retryAfterSeconds }: Omit<ErrorResponse, 'status'>) {
    const mayPass = given === 'rejected_for_now';
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    super(faultKindOf(given), message, { ...wait, mayPass });
    this.code = code;
  }
}

const faultKindOf = (kind: CodeKind): FaultKind => (kind === 'rejected_for_now' ? 'rejected' : kind);

/** Whether the error is a fault with one of these error codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof ProviderFault && error.code !== undefined && codes.includes(error.code);

/**
 * Returns the error of a call that requests credentials: if the provider has refused the request, for whatever reason, the
 * fault is `unauthenticated`, because what the destination authenticates with is what has to change. Any other error is
 * returned as it is.
 */
export function refusedCredentials(error: unknown): unknown {
  const isRefusal =
    error instanceof ProviderFault && (error.kind === 'forbidden' || error.kind === 'rejected');
  // Without the code, which would say something else of the call that the credentials are for, such as that a secret is not
  // found.
  return isRefusal ? new Fault('unauthenticated', error.message) : error;
}

const sentences: Readonly<Record<FaultKind, string>> = {
  unauthenticated: 'the credentials were not accepted',
  forbidden: 'permission denied',
  rejected: 'the request was rejected',
  too_large: 'the value is too large',
  full: 'a limit of what it can hold is reached',
  conflict: 'the name is already in use',
  throttled: 'too many requests',
  not_ready: 'the secret is not ready',
  unavailable: 'the service is unavailable',
};

/**
 * Returns the fault of an error response, or undefined if the response is not an error: its code is not in `kinds` and
 * its status is below 400. The code decides before the status does. `operation` is the operation that failed, which is
 * usually also the name of the permission that it needs. The message contains the code or the status, but never the
 * provider's own message, because that may contain values.
 */
export function providerFault(
  operation: string,
  { status, code, reason, retryAfterSeconds }: ErrorResponse,
  kinds: ReadonlyMap<string, CodeKind>,
): Fault | undefined {
  const kind = (code === undefined ? undefined : kinds.get(code)) ?? kindOfStatus(status);
  if (kind === undefined) return undefined;
  return responseFault(kind, `${operation}: ${sentences[faultKindOf(kind)]}`, {
    status,
    code,
    reason,
    retryAfterSeconds,
  });
}

/** The fault of a kind, whose message ends with the code or the status of the response. */
export function responseFault(
  kind: CodeKind,
  sentence: string,
  { status, code, reason, retryAfterSeconds }: ErrorResponse,
): Fault {
  const isRetried = kind === 'throttled' || kind === 'unavailable';
  const cause = [code ?? `status ${status}`, reason].filter((part) => part !== undefined).join(': ');
  return new ProviderFault(kind, `${sentence} (${cause})`, {
    code,
    retryAfterSeconds: isRetried ? retryAfterSeconds : undefined,
  });
}

/**
 * Statuses about the state of something, not about the request (RFC 9110, section 15.5; RFC 4918, section 11): payment,
 * absence, conflicts, locks.
 */
const statesThatPass: ReadonlySet<number> = new Set([402, 404, 408, 409, 410, 412, 423, 424, 425]);

function kindOfStatus(status: number): CodeKind | undefined {
  if (status < 400) return undefined;
  if (status >= 500) return 'unavailable';
  if (status === 429) return 'throttled';
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'forbidden';
  return statesThatPass.has(status) ? 'rejected_for_now' : 'rejected';
}

const maxRetryAfterSeconds = 86_400;

/**
 * Parses a `Retry-After` header, which is a number of seconds or a date (RFC 9110, section 10.2.3). Returns at most one
 * day, and undefined if the header is missing, invalid or in the past.
 */
export function retryAfterSeconds(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - Date.now()) / 1000);
  return Number.isNaN(seconds) || seconds < 0 ? undefined : Math.min(seconds, maxRetryAfterSeconds);
}
