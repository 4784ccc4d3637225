import type { Drift, DriftPolicy } from '@secrets/domain';
import type { FailureKind } from './retry-policy.ts';

/** `error`: somebody must act, or the external secret keeps its old value. `warn`: it will be retried, and may then succeed. */
export type FailureLevel = 'error' | 'warn';

/** The level of the log line about a failed attempt or look (docs/operations/monitoring.md#logs). */
export const levelOfFailure: Readonly<Record<FailureKind, FailureLevel>> = {
  unauthenticated: 'error',
  forbidden: 'error',
  rejected: 'error',
  too_large: 'error',
  full: 'error',
  conflict: 'error',
  throttled: 'warn',
  not_ready: 'warn',
  unavailable: 'warn',
  crashed: 'error',
};

/** The level of the log line about an external secret that somebody else has changed. A repair needs no operator. */
export const levelOfDrift = (policy: DriftPolicy, drift: Drift): FailureLevel =>
  policy === 'off' || (policy === 'repair' && (drift === 'changed' || drift === 'missing'))
    ? 'warn'
    : 'error';
