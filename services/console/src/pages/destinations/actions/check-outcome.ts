export interface CheckResult {
  ok: boolean;
  steps: { step: string; result: string; fault?: unknown; message?: unknown }[];
}

/** Faults that say nothing about the credentials and permissions. */
const passing: readonly unknown[] = ['unavailable', 'throttled', 'not_ready'];

/** Returns a sentence about the failed steps. A step without a fault is the service's own failure. */
export function outcomeOf(made: CheckResult['steps']): string {
  const faults = made.filter(({ result }) => result === 'failed').map(({ fault }) => fault);
  if (faults.some((fault) => fault === 'unauthenticated' || fault === 'forbidden'))
    return 'The credentials or permissions do not suffice.';
  return faults.some((fault) => passing.includes(fault))
    ? 'The provider did not do what the check asked for, which says nothing about the credentials. Check again later.'
    : 'The check has failed for another reason than credentials or permissions: see the failed step.';
}
