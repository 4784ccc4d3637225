import { errorCode, Problem } from '@secrets/domain';

/** Returns the message about a failure in the background that a destination shows. The log has the rest. */
export const failureText = (error: unknown): string =>
  error instanceof Problem
    ? error.message
    : `an unexpected failure (${errorCode(error) ?? 'see the log of sync-control'}); will be retried`;
