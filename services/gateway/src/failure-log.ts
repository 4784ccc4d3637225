import { Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import { ClientDisconnected } from './read-body.ts';

const pauseMs = 1_000;

/**
 * Logs what an operator has to know of failed requests: a part of ours that is down (at most one line a second for
 * each sentence, since every request fails then) and whatever nobody foresaw. Refusals are in the audit.
 */
export function failureLog(log: Logger): (failure: unknown, requestId: string) => void {
  const lastAt = new Map<string, number>();
  return (failure, requestId) => {
    if (failure instanceof ClientDisconnected) return;
    if (!(failure instanceof Problem))
      return log.error({ error: failure, requestId }, 'a request failed unexpectedly');
    if (failure.kind !== 'unavailable' && failure.kind !== 'bad_gateway') return;
    const now = Date.now();
    if (now - (lastAt.get(failure.message) ?? 0) < pauseMs) return;
    lastAt.set(failure.message, now);
    log.warn(
      { error: failure.cause, requestId, sentence: failure.message },
      'a part that requests need is down',
    );
  };
}
