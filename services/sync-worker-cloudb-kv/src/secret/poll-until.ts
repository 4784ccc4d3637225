import { setTimeout as sleep } from 'node:timers/promises';

const firstDelayMs = 100;

/**
 * Repeats `check` with increasing delays until it returns a value. Returns undefined after `limitMs`, or when the
 * signal aborts. A vault finishes deletions and recoveries within seconds, mostly; what takes longer is left to the
 * next attempt.
 */
export async function pollUntil<Value>(
  check: () => Promise<Value | undefined>,
  limitMs: number,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const deadline = performance.now() + limitMs;
  for (let delayMs = firstDelayMs; !signal.aborted; delayMs *= 2) {
    const value = await check();
    if (value !== undefined) return value;
    if (performance.now() + delayMs > deadline) return undefined;
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
