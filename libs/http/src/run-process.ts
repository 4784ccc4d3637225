import type { Logger } from '@secrets/telemetry';

/** Something that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

const stopTimeoutMs = 25_000;

/**
 * The life of a process: starts, runs until SIGTERM or SIGINT, stops in order and exits with 0. A start that fails, or
 * an error that nobody caught, is logged and ends the process with 1: what it held is taken up again by its leases.
 * A signal during the start ends it at once.
 */
export async function runProcess(log: Logger, start: () => Promise<Running>): Promise<void> {
  const fail = (error: unknown) => {
    log.fatal({ error }, 'fatal error; exiting');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let running: Running | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      if (running === undefined) process.exit(0);
      setTimeout(() => fail(new Error('stopping took too long')), stopTimeoutMs).unref();
      running.stop().then(() => process.exit(0), fail);
    });
  }
  running = await start().catch(fail);
}

/** Stops one part after the other, in the order given; one that fails does not keep the next from being stopped. */
export function stopInOrder(...parts: (() => Promise<unknown> | unknown)[]): Running {
  return {
    stop: async () => {
      const failures: unknown[] = [];
      for (const part of parts)
        await Promise.resolve()
          .then(part)
          .catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
