import { Problem, type ProblemKind } from '@secrets/domain';

/** The state of an import whose next part has failed, and when that is tried again. */
interface AfterFailure {
  state: 'running' | 'failed';
  attempts: number;
  retryInSeconds: number;
}

/** Attempts in a row, with growing pauses, which take about two hours. */
const maxAttempts = 30;
const maxPauseSeconds = 300;
const withoutBudgetSeconds = 5;

/** Nothing that the import waits for changes these: the destination, the mount or the template no longer permits it. */
const final: ReadonlySet<ProblemKind> = new Set(['not_found', 'invalid', 'forbidden']);

/**
 * Decides about an import whose next part has failed, after `attempts` in a row before. A wait for the budget of the account
 * is no failed attempt.
 */
export function afterFailure(error: unknown, attempts: number): AfterFailure {
  const failed = attempts + 1;
  if (error instanceof Problem && error.kind === 'rate_limited')
    return { state: 'running', attempts, retryInSeconds: error.retryAfterSeconds ?? withoutBudgetSeconds };
  if ((error instanceof Problem && final.has(error.kind)) || failed >= maxAttempts)
    return { state: 'failed', attempts: failed, retryInSeconds: 0 };
  return { state: 'running', attempts: failed, retryInSeconds: pauseAfter(failed) };
}

/** The pause after so many attempts in a row. */
export const pauseAfter = (attempts: number): number => Math.min(2 ** attempts, maxPauseSeconds);
