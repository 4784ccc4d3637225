import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const pollMs = { first: 20, longest: 250 };
/** Part of the time waited so far: what takes long is looked at less often, because each look takes time from what is awaited. */
const pausePart = 1 / 40;
const defaultTimeoutMs = 60_000;

/** Polls until `isMet` accepts the value, and returns it. Throws, with the last value, after the timeout. */
export async function eventually<T>(
  look: () => Promise<T>,
  isMet: (value: T) => boolean,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const started = Date.now();
  for (;;) {
    const value = await look();
    if (isMet(value)) return value;
    const waitedMs = Date.now() - started;
    if (waitedMs > timeoutMs)
      throw new Error(
        `the condition was not met within ${timeoutMs} ms; last value: ${JSON.stringify(value)}`,
      );
    await sleep(Math.min(pollMs.longest, Math.max(pollMs.first, waitedMs * pausePart)));
  }
}

/** Polls until the value deeply equals `expected`. Throws, with the last value, after the timeout. */
export async function eventuallyEqual<T>(
  look: () => Promise<T>,
  expected: T,
  timeoutMs = defaultTimeoutMs,
): Promise<void> {
  await eventually(look, (value) => isDeepStrictEqual(value, expected), timeoutMs).catch((error: unknown) => {
    throw new Error(`expected ${JSON.stringify(expected)}: ${(error as Error).message}`);
  });
}

/** Waits while nothing must happen; the assertion follows. Where something must happen, use `eventually`. */
export const quietFor = (ms: number): Promise<void> => sleep(ms);
