import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when what is awaited is over, after this many milliseconds, or when the signal is aborted. */
export type Wait<Awaited> = (awaited: Awaited, milliseconds: number, signal?: AbortSignal) => Promise<void>;

interface Waiter<Awaited> {
  awaited: Awaited;
  end: () => void;
}

interface SharedWaitOptions<Awaited> {
  /** The pause before the next query, given how long the last one has taken. */
  pauseMs: (tookMs: number) => number;
  /** Returns, for each of several waiters, whether its wait is over. One that rejects is called again after the next pause. */
  areOver: (awaited: readonly Awaited[]) => Promise<readonly boolean[]>;
}

/**
 * Waits with one query for all waiters: its rate does not depend on their number, and is 0 without any. A query that takes long,
 * as while the database does not respond, delays the end of no wait.
 */
export function sharedWait<Awaited>({ pauseMs, areOver }: SharedWaitOptions<Awaited>): Wait<Awaited> {
  const waiters = new Set<Waiter<Awaited>>();
  let isPolling = false;

  const poll = async () => {
    let tookMs = 0;
    while (waiters.size > 0) {
      await sleep(pauseMs(tookMs), undefined, { ref: false });
      const startedAtMs = performance.now();
      if (waiters.size > 0) await endFinished([...waiters], areOver);
      tookMs = performance.now() - startedAtMs;
    }
    isPolling = false;
  };

  return (awaited, milliseconds, signal) =>
    new Promise((resolve) => {
      if (milliseconds <= 0 || signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        waiters.delete(waiter);
        resolve();
      };
      const waiter = { awaited, end };
      const timer = setTimeout(end, milliseconds).unref();
      signal?.addEventListener('abort', end);
      waiters.add(waiter);
      if (isPolling) return;
      isPolling = true;
      void poll();
    });
}

async function endFinished<Awaited>(
  waiters: readonly Waiter<Awaited>[],
  areOver: SharedWaitOptions<Awaited>['areOver'],
): Promise<void> {
  const over = await areOver(waiters.map(({ awaited }) => awaited)).catch(() => []);
  for (const [place, waiter] of waiters.entries()) if (over[place]) waiter.end();
}
