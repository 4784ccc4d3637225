export interface PauseRange {
  firstMs: number;
  mostMs: number;
}

/** A pause that doubles with every failure up to `mostMs`, of which a random part up to a half is left out. */
export function growingPauseMs(
  failures: number,
  { firstMs, mostMs }: PauseRange,
  random = Math.random(),
): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30));
  return full * (1 - random / 2);
}

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
