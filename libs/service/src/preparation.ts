import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerOptions, startServer } from '@secrets/http';
import type { Logger } from '@secrets/telemetry';

/**
 * Work that a service has to do before it starts, and that depends on something that may still be missing, such as the
 * database.
 */
export interface Preparation {
  /** What has to be there, as `/readyz` names it. */
  needs: string;
  /** May run several times. */
  run(): Promise<void>;
  /** Whether an error means that it is not there yet. Any other error ends the process. */
  isMissing(error: unknown): boolean;
}

const pause = { firstMs: 250, maxMs: 3_000 };
/** Interval at which the log repeats that the process is waiting. */
const reminderMs = 10 * 60_000;

/**
 * Runs a preparation until it succeeds. After the first failed attempt, the addresses of the service, if there are any, show that
 * the process lives and is not ready.
 * @throws what the preparation throws, unless something is missing
 */
export async function runPreparation(
  preparation: Preparation,
  app: RequestListener,
  servers: readonly ServerOptions[],
  log: Logger,
): Promise<void> {
  const { needs, run, isMissing } = preparation;
  const waiting: { stop(graceMs: number): Promise<void> }[] = [];
  let remindedAt = Number.NEGATIVE_INFINITY;
  for (let pauseMs = pause.firstMs; ; pauseMs = Math.min(2 * pauseMs, pause.maxMs)) {
    try {
      await run();
      break;
    } catch (error) {
      if (!isMissing(error)) throw error;
      const isDue = performance.now() - remindedAt >= reminderMs;
      if (isDue) log.warn({ error: reasonOf(error), needs }, 'not ready: waiting for what the service needs');
      if (isDue) remindedAt = performance.now();
      for (const options of servers.slice(waiting.length))
        waiting.push(await startServer(waitingApp(app, needs), options));
      await sleep(pauseMs);
    }
  }
  if (remindedAt === Number.NEGATIVE_INFINITY) return;
  await Promise.all(waiting.map((server) => server.stop(0)));
  log.info({ needs }, 'what the service needs is there');
}

/** A problem is for clients; its cause says what is wrong. */
const reasonOf = (error: unknown): unknown =>
  error instanceof Error && error.name === 'Problem' ? (error.cause ?? error) : error;

/**
 * Serves what operators and orchestrators ask for. Any other connection is closed without a response, as if nothing listened:
 * whoever calls a service with several replicas tries another one.
 */
const waitingApp =
  (app: RequestListener, needs: string): RequestListener =>
  (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path === '/livez' || path === '/metrics') return app(request, response);
    if (path !== '/readyz') return request.socket.destroy();
    response
      .writeHead(503, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ready: false, missing: [needs] }));
  };
