export interface PauseRange {
  firstMs: number;
  maxMs: number;
}

/** A pause that doubles with every failure up to `maxMs`, of which a random part up to a half is left out. */
export function backoffMs(failures: number, { firstMs, maxMs }: PauseRange, random = Math.random()): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (1 - random / 2);
}

const maxDoublings = 4;

/**
 * How long a message is held back before its next delivery: doubling with each one, up to 16 times. With the 500 ms of
 * the brokers, its 20 deliveries last two minutes: what a handler needs may be away for that long.
 */
export const requeueBackoffMs = (firstMs: number, deliveries: number): number =>
  firstMs * 2 ** Math.min(Math.max(deliveries - 1, 0), maxDoublings);

/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
