import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default 60,000. */
  timeoutMs?: number;
  /** The pause between two calls; default 10. */
  intervalMs?: number;
}

/**
 * Calls `check` until it neither throws nor returns `false`, and returns its result.
 * @throws after `timeoutMs`, the last error of `check`
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 10 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      const result = await check();
      if (result !== false) return result;
      throw new Error(`the condition did not hold within ${timeoutMs} ms`);
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await sleep(intervalMs);
  }
}
