import type { Logger } from '@secrets/telemetry';

/** Something done again and again until it is stopped. */
export interface Repeated {
  /** Resolves when the turn under way has ended. */
  stop(): Promise<void>;
}

/** Does `work` every so many seconds, one turn at a time; a turn that fails is logged and the next one comes. */
export function every(seconds: number, name: string, log: Logger, work: (isStopping: () => boolean) => Promise<unknown>): Repeated {
  const stopping = new AbortController();
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await sleep(seconds * 1000, stopping.signal);
      if (stopping.signal.aborted) return;
      await work(() => stopping.signal.aborted).catch((error: unknown) => log.warn({ error, task: name }, 'a background task failed; its next turn comes'));
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

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms * (0.9 + Math.random() / 5));
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
