/** Why a driver failed: the closed list. Everything after (retry, status, whom to tell) is decided from it. */
export const faultKinds = [
  'unauthenticated', // the credentials are refused
  'forbidden', // the credentials are good and may not do this
  'rejected', // the request can never succeed as it is: a name, a tag, a setting, a limit
  'too_large', // the value is over the destination's size
  'conflict', // an external secret of that name exists and is not ours
  'throttled', // too many requests; wait
  'not_ready', // this one external secret is still busy after an earlier call, the destination is not; only this entry waits
  'unavailable', // the destination is down, silent, or talks nonsense
] as const;

export type FaultKind = (typeof faultKinds)[number];

/**
 * A driver's failure: a kind and a sentence of ours, which the operator reads in `last_error`. Never holds the
 * remote's body nor a value.
 */
export class Fault extends Error {
  readonly kind: FaultKind;
  /** What the destination asked to wait, for `throttled` and `unavailable`. */
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
