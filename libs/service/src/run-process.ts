import type { Logger } from '@secrets/telemetry';
import type { Running } from './stop-in-order.ts';

const maxStopMs = 25_000;

/**
 * Runs a process: starts it, waits for SIGTERM or SIGINT, stops it and exits with 0. After a failed start or an uncaught error, it logs
 * the error and exits with 1; leases let other processes take over the work. A signal during the start exits immediately with 0.
 */
export async function runProcess(log: Logger, start: () => Promise<Running>): Promise<void> {
  const fail = (error: unknown) => {
    log.fatal({ error }, 'fatal error; exiting');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let running: Running | undefined;
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Not `once`: after Ctrl-C, `npm start` gets the signal twice, from the terminal and from npm. The second one must
    // not end the process while it stops.
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      log.info({ signal }, 'stopping');
      if (running === undefined) process.exit(0);
      setTimeout(() => fail(new Error(`shutdown took longer than ${maxStopMs} ms`)), maxStopMs).unref();
      running.stop().then(() => process.exit(0), fail);
    });
  }
  running = await start().catch(fail);
}
