/** One check of a decision. */
export interface Check {
  /** What must be true. */
  check: string;
  passed: boolean;
  /** The claims that it looked at, or the part of the request. */
  claim: string;
  /** Why it failed, without values of the role or the token. */
  reason?: string;
  /** Whether the request is malformed, rather than refused. */
  isInvalid?: boolean;
}

/** A check that failed if there is a reason. */
export const check = (what: string, claim: string, reason: string | undefined): Check =>
  reason === undefined ? { check: what, passed: true, claim } : { check: what, passed: false, claim, reason };

/** The reason if a condition does not hold. */
export const reasonUnless = (holds: boolean, reason: string): string | undefined =>
  holds ? undefined : reason;
