import { errorCode, Problem } from '@secrets/domain';

/** What a destination shows of a failure in the background. The log has the rest. */
export const failureText = (error: unknown): string =>
  error instanceof Problem
    ? error.message
    : `an unexpected failure (${errorCode(error) ?? 'see the log of sync-control'}); will be retried`;
