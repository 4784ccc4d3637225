import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig, withFiles } from '@secrets/config';
import { type RunningServer, type ServerOptions, type Service, startServer } from '@secrets/http';
import { createLogger, createMetrics, type Logger, type Metrics, startTracing } from '@secrets/telemetry';
import type { z } from 'zod';
import { type Preparation, runPreparation } from './preparation.ts';
import { runProcess } from './run-process.ts';
import { stopInOrder } from './stop-in-order.ts';

/** Environment and tools from which a service is built. */
export interface Process<Env> {
  env: Env;
  log: Logger;
  metrics: Metrics;
  /** Registers a function to call when the process stops. The last one registered is called first. */
  onStop(close: () => Promise<unknown> | unknown): void;
}

type EnvSchema = z.ZodType<{ LOG_LEVEL: string }>;

/** Returns what the operator can do about an error at startup; undefined if there is nothing to add to the error itself. */
type Explain<Env> = (error: unknown, env: Env | undefined) => string | undefined;

/**
 * Runs the process of a service: reads its environment (`…_FILE` variables included), builds it, runs it until SIGTERM or
 * SIGINT, and closes what was opened, in reverse order. If the start fails, the process exits with 1 after writing the sentence
 * of `explain` to standard error, or the error to the log if there is none.
 */
export async function runService<Schema extends EnvSchema>(
  service: string,
  Env: Schema,
  build: (process: Process<z.infer<Schema>>) => Promise<void>,
  explain: Explain<z.infer<Schema>> = () => undefined,
): Promise<void> {
  const env = readEnvironment(service, Env, explain);
  const log = createLogger({ service, level: env.LOG_LEVEL });
  await runProcess(log, async () => {
    const closers: (() => Promise<unknown> | unknown)[] = [];
    const onStop = (close: () => Promise<unknown> | unknown) => void closers.unshift(close);
    const started = async () => {
      onStop(await startTracing({ service, env: process.env, log }));
      await build({ env, log, metrics: createMetrics(service), onStop });
    };
    await started().catch((error: unknown) => failToStart(log, error, explain(error, env)));
    return stopInOrder(...closers);
  });
}

function readEnvironment<Schema extends EnvSchema>(
  service: string,
  Env: Schema,
  explain: Explain<z.infer<Schema>>,
): z.infer<Schema> {
  try {
    return readConfig(Env, withFiles(process.env));
  } catch (error) {
    return failToStart(createLogger({ service, level: 'info' }), error, explain(error, undefined));
  }
}

function failToStart(log: Logger, error: unknown, sentence: string | undefined): never {
  if (sentence === undefined) log.fatal({ error }, 'fatal error; exiting');
  else process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const stopGraceMs = 10_000;
const operatorsGraceMs = 1_000;

/** Settings for starting and stopping a server. */
export interface ServeOptions {
  /**
   * Done before the service starts, again and again while something is missing. Its background work must not have begun if
   * `start` rejects.
   */
  preparation?: Preparation;
  /** How long the server drains before it stops. Default 0. */
  drainSeconds?: number;
  /** A server for operators, in addition. */
  forOperators?: { app: RequestListener; options: ServerOptions } | undefined;
  /** Other servers that show that the process is not ready. */
  alsoUnready?: readonly RunningServer[];
  /**
   * Whether the server serves only operators. It then stops last, and shows until then that the process is not ready. Default
   * false.
   */
  isForOperators?: boolean;
}

/**
 * Starts a service and its HTTP server. When the process stops, the server drains and stops first, then the service's
 * background work. To drain is to accept requests that are still coming, without being ready: whoever distributes them has to
 * notice.
 */
export async function serve(
  service: Service<RequestListener>,
  options: ServerOptions,
  { log, onStop }: Pick<Process<unknown>, 'log' | 'onStop'>,
  {
    preparation,
    drainSeconds = 0,
    alsoUnready = [],
    forOperators,
    isForOperators = false,
  }: ServeOptions = {},
) {
  if (preparation === undefined) await service.start();
  else {
    const servers = forOperators === undefined ? [options] : [options, forOperators.options];
    await runPreparation(startedWith(preparation, service), service.app, servers, log);
  }
  if (!isForOperators) onStop(service.stop);
  const server = await startServer(service.app, options);
  const operators = forOperators && (await startServer(forOperators.app, forOperators.options));
  onStop(async () => {
    if (drainSeconds > 0) {
      for (const one of [server, operators, ...alsoUnready]) one?.drain();
      await sleep(drainSeconds * 1_000);
    }
    await server.stop(stopGraceMs);
    await operators?.stop(operatorsGraceMs);
  });
  if (isForOperators) {
    onStop(service.stop);
    onStop(server.drain);
  }
  log.info({ url: server.url }, 'ready');
  return server;
}

/** The database may go away between the preparation and the start. */
const startedWith = (preparation: Preparation, service: Service<RequestListener>): Preparation => ({
  ...preparation,
  run: async () => {
    await preparation.run();
    await service.start();
  },
});
