import { setTimeout } from 'node:timers/promises';

export interface PauseRange {
  firstMs: number;
  maxMs: number;
}

/** The pause after a number of failures: doubles with each, up to `maxMs`, minus a random part of at most a half. */
export function backoffMs(failures: number, { firstMs, maxMs }: PauseRange, random = Math.random()): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (1 - random / 2);
}

const maxDoublings = 4;

/**
 * The delay before a message's next delivery: doubles with each one, up to 16 times `firstMs`. With the brokers' default
 * of 500 ms, 20 deliveries take two minutes.
 */
export const requeueBackoffMs = (firstMs: number, deliveries: number): number =>
  firstMs * 2 ** Math.min(Math.max(deliveries - 1, 0), maxDoublings);

/** Resolves after `ms`, or when the signal aborts. */
export const sleepUntilAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal }).catch(() => undefined);
