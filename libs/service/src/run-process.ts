import type { Logger } from '@secrets/telemetry';
import type { Running } from './stop-in-order.ts';

const maxStopMs = 25_000;
const maxStartMs = 3_000;

/**
 * Runs a process: starts it, waits for SIGTERM or SIGINT, stops it and exits with 0. After a failed start or an uncaught error,
 * it logs the error and exits with 1; leases let other processes take over the work. A signal during the start stops it as soon
 * as it has started, or exits with 0 if that takes longer than three seconds: what it waits for may never come.
 */
export async function runProcess(log: Logger, start: () => Promise<Running>): Promise<void> {
  const fail = (error: unknown) => {
    log.fatal({ error }, 'fatal error; exiting');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  const starting = Promise.withResolvers<Running>();
  let isStarted = false;
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Not `once`: after Ctrl-C, `npm start` gets the signal twice, from the terminal and from npm. The second one must
    // not end the process while it stops.
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      log.info({ signal }, 'stopping');
      if (!isStarted) setTimeout(() => isStarted || process.exit(0), maxStartMs).unref();
      setTimeout(() => fail(new Error(`shutdown took longer than ${maxStopMs} ms`)), maxStopMs).unref();
      starting.promise.then((running) => running.stop()).then(() => process.exit(0), fail);
    });
  }
  starting.resolve(await start().catch(fail));
  isStarted = true;
}
