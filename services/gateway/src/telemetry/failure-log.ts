import { Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import { ClientDisconnected } from '../request/read-body.ts';

const intervalMs = 1_000;

/**
 * Logs the failures that operators need to know: unavailable dependencies, at most one line per second and message because
 * every request fails then, and unexpected errors. Refused requests are only in the audit.
 */
export function failureLog(log: Logger): (failure: unknown, requestId: string) => void {
  const lastAt = new Map<string, number>();
  return (failure, requestId) => {
    if (failure instanceof ClientDisconnected) return;
    if (!(failure instanceof Problem))
      return log.error({ error: failure, requestId }, 'a request failed unexpectedly');
    if (failure.kind !== 'unavailable' && failure.kind !== 'bad_gateway') return;
    const now = Date.now();
    if (now - (lastAt.get(failure.message) ?? 0) < intervalMs) return;
    lastAt.set(failure.message, now);
    log.warn({ error: failure.cause, requestId, sentence: failure.message }, 'a dependency is unavailable');
  };
}
