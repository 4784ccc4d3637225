/** Why a driver failed: a closed list. Retries and the status depend on it. */
export const faultKinds = [
  'unauthenticated', // the credentials are refused
  'forbidden', // the credentials are valid but lack a permission
  'rejected', // the request cannot succeed unchanged: a name, a tag, a setting, a limit
  'too_large', // the value exceeds the destination's size limit
  'conflict', // an external secret of that name exists and does not belong to this association
  'throttled', // too many requests
  'not_ready', // this external secret is busy after an earlier call; other entries of the destination need not wait
  'unavailable', // the destination is down, does not answer, or answers unintelligibly
] as const;

export type FaultKind = (typeof faultKinds)[number];

const refusals: ReadonlySet<FaultKind> = new Set([
  'unauthenticated',
  'forbidden',
  'rejected',
  'too_large',
  'throttled',
]);

/**
 * A driver's failure: a kind and our own message, which the operator reads in `last_error`. Never contains the destination's
 * response or a secret value.
 */
export class Fault extends Error {
  readonly kind: FaultKind;
  /** How long the destination asked to wait, for `throttled` and `unavailable`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: FaultKind,
    sentence: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether the destination has refused a call, so that the call has certainly changed nothing. */
export const isRefusal = (error: unknown): boolean => error instanceof Fault && refusals.has(error.kind);
