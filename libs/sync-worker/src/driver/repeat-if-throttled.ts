import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '@secrets/domain';

const delayMs = { min: 50, max: 150 };
/** The signals of attempts that have made a call. */
const begun = new WeakSet<AbortSignal>();

/**
 * Makes a call of an attempt, whose calls share its signal. If it is throttled, repeats it once after a moment, unless it is the first one of the
 * attempt or the provider asks for more time.
 *
 * An attempt that starts again makes the same calls in the same order. A store that throttles at a fixed rhythm, such as every third call, would
 * always refuse the same one of them, and the entry would never be synced. The first call is not repeated: it is what the budget counts.
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
    if (isFirst || signal.aborted || !isBrief(error)) throw error;
    const ms = delayMs.min + Math.random() * (delayMs.max - delayMs.min);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    return call();
  }
}

const isBrief = (error: unknown): boolean =>
  error instanceof Fault && error.kind === 'throttled' && error.retryAfterSeconds === undefined;
