import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@secrets/telemetry';

/** Something done again and again until it is stopped. */
export interface Repeated {
  /** Resolves when the turn under way has ended. */
  stop(): Promise<void>;
}

/** Does `work` every so many seconds, one turn at a time; a turn that fails is logged and the next one comes. */
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
        log.warn({ error, task: name }, 'a background task failed; its next turn comes'),
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
