import { readConfig, withFiles } from '@secrets/config';
import { type ServerOptions, type Service, startServer } from '@secrets/http';
import { createLogger, createMetrics, type Logger, type Metrics } from '@secrets/telemetry';
import type { z } from 'zod';
import { runProcess } from './run-process.ts';
import { stopInOrder } from './stop-in-order.ts';

/** What `build` gets to build a service from. */
export interface Process<Env> {
  env: Env;
  log: Logger;
  metrics: Metrics;
  /** Registers what to do at the end of the process. The last registered is the first done. */
  onStop(close: () => Promise<unknown> | unknown): void;
}

type EnvSchema = z.ZodType<{ LOG_LEVEL: string }>;

/** A sentence for people that says what to do about a start that failed; undefined if only the error itself explains it. */
type Explain<Env> = (error: unknown, env: Env | undefined) => string | undefined;

/**
 * The life of a service's process: reads its environment (`…_FILE` variables included), builds it, runs it until SIGTERM or SIGINT,
 * and closes what was opened, in reverse order. A start that fails ends the process with 1: with the sentence of `explain` on
 * standard error, or with a line in the log.
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
    await build({ env, log, metrics: createMetrics(service), onStop }).catch((error: unknown) =>
      failToStart(log, error, explain(error, env)),
    );
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

/** Starts a service and its HTTP server. At the end, the server stops first, then what the service does in the background. */
export async function serve(
  service: Service,
  options: ServerOptions,
  { log, onStop }: Pick<Process<unknown>, 'log' | 'onStop'>,
) {
  await service.start();
  onStop(service.stop);
  const server = await startServer(service.app, options);
  onStop(() => server.stop(stopGraceMs));
  log.info({ url: server.url }, 'ready');
  return server;
}
