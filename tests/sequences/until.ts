import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Several times the minute after which the page of a replan is repeated if its process was killed, which may happen to
 * it again.
 */
const timeoutMs = 300_000;
const pollMs = 200;

/** Resolves when `look` returns true. Throws with the reason that it returns instead if that takes too long. */
export async function until(look: () => Promise<true | string>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen === true) return;
    if (Date.now() > deadline) throw new Error(seen);
    await sleep(pollMs);
  }
}
