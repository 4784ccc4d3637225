/** Why a driver failed: a closed list. Retries and the status depend on it. */
export const faultKinds = [
  'unauthenticated', // the credentials are refused
  'forbidden', // the credentials are valid but lack a permission
  'rejected', // the request cannot succeed as things are: a name, a tag, a setting, something that is missing (`mayPass`)
  'too_large', // the value exceeds the destination's size limit
  'full', // the destination has no room for it until something else is removed there
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
  'full',
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
  /** For `rejected`: the same request may succeed later, because something else changes, such as a project that is created. */
  readonly mayPass: boolean;

  constructor(
    kind: FaultKind,
    sentence: string,
    options: { retryAfterSeconds?: number; mayPass?: boolean; cause?: unknown } = {},
  ) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.mayPass = options.mayPass ?? false;
  }
}

/** Whether the destination has refused a call, so that the call has certainly changed nothing. */
export const isRefusal = (error: unknown): boolean => error instanceof Fault && refusals.has(error.kind);
