import { Problem } from '@secrets/domain';

/** One check of a decision. */
export interface Check {
  /** What must be true. */
  check: string;
  passed: boolean;
  /** False if it could not be made, because an earlier one failed. */
  reached?: false;
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

/** A check that could not be made. */
export const unreached = (what: string, claim: string): Check => ({
  check: what,
  passed: false,
  reached: false,
  claim,
  reason: 'was not reached, because an earlier check failed',
});

/** The reason if a condition does not hold. */
export const reasonUnless = (holds: boolean, reason: string): string | undefined =>
  holds ? undefined : reason;

/** Throws the reason of the first check that failed: `invalid` or `forbidden`. */
export function requirePassed(checks: readonly Check[]): void {
  const failed = checks.find(({ passed }) => !passed);
  if (failed !== undefined) throw refusalProblem(failed);
}

/** The problem of a check that failed. */
export const refusalProblem = ({ reason, isInvalid = false }: Check): Problem =>
  new Problem(isInvalid ? 'invalid' : 'forbidden', reason);
