import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, logFailure } from '@secrets/telemetry';

/** A task that is repeated until it is stopped. */
export interface Repeated {
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every `seconds`, with jitter of 10 %, one run at a time. A failed run is logged (`logFailure`) and does
 * not stop the next one.
 */
export function every(
  seconds: number,
  name: string,
  log: Logger,
  work: (isStopping: () => boolean) => Promise<unknown>,
): Repeated {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async () => {
    while (!signal.aborted) {
      const jittered = seconds * 1000 * (0.9 + Math.random() / 5);
      await sleep(jittered, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
      if (signal.aborted) return;
      await work(() => signal.aborted).catch((error: unknown) =>
        logFailure(log, { error, task: name }, 'background task failed; will be retried'),
      );
    }
  };
  const running = loop();
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
