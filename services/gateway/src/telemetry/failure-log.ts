import { Problem } from '@secrets/domain';
import { type Logger, logOutage } from '@secrets/telemetry';
import { ClientDisconnected } from '../request/read-body.ts';

/**
 * Logs the failures that operators need to know: unavailable dependencies and unexpected errors. Refused requests are
 * only in the audit.
 */
export const failureLog =
  (log: Logger) =>
  (failure: unknown, requestId: string): void => {
    if (failure instanceof ClientDisconnected) return;
    if (!(failure instanceof Problem))
      log.error({ error: failure, requestId }, 'a request failed unexpectedly');
    else if (failure.kind === 'unavailable' || failure.kind === 'bad_gateway')
      logOutage(log, failure.message, { error: failure.cause, requestId });
  };
