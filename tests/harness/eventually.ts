import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const pollMs = 20;
const defaultTimeoutMs = 60_000;

/** Polls until `isMet` accepts the value, and returns it. Throws, with the last value, after the timeout. */
export async function eventually<T>(
  look: () => Promise<T>,
  isMet: (value: T) => boolean,
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (isMet(value)) return value;
    if (Date.now() > deadline)
      throw new Error(
        `the condition was not met within ${timeoutMs} ms; last value: ${JSON.stringify(value)}`,
      );
    await sleep(pollMs);
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
