import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '@secrets/domain';

/** Used if the provider does not say how long to wait. */
const delayMs = { min: 50, max: 150 };
/** A call that has to wait longer is left to the next attempt. */
const maxWaitMs = 10_000;
/** The signals of attempts that have made a call. */
const begun = new WeakSet<AbortSignal>();

/**
 * Makes a call of an attempt, whose calls share its signal. If it is throttled, waits for as long as the provider asks, at most
 * ten seconds, and repeats it once, unless it is the first call of the attempt.
 *
 * An attempt that starts again makes the same calls in the same order. A store that throttles at a fixed rhythm, such as every
 * third call, would always refuse the same one of them, and the entry would never be synced. The first call is not repeated: it
 * is what the budget counts.
 */
export async function repeatIfThrottled<Result>(
  signal: AbortSignal,
  call: () => Promise<Result>,
): Promise<Result> {
  const isFirst = !begun.has(signal);
  begun.add(signal);
  try {
    return await call();
  } catch (error) {
    const waitMs = isFirst ? undefined : waitOf(error);
    if (waitMs === undefined || !(await passes(waitMs, signal))) throw error;
    return call();
  }
}

/** Returns the milliseconds to wait before repeating the call; undefined if it must not be repeated. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof Fault) || error.kind !== 'throttled') return undefined;
  const jitterMs = delayMs.min + Math.random() * (delayMs.max - delayMs.min);
  const waitMs = (error.retryAfterSeconds ?? 0) * 1_000 + jitterMs;
  return waitMs <= maxWaitMs ? waitMs : undefined;
}

/** Whether the time passes before the attempt is over. */
const passes = (ms: number, signal: AbortSignal): Promise<boolean> =>
  sleep(ms, true, { signal }).catch(() => false);
