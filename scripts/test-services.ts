import { atExit } from './test-services/at-exit.ts';
import { dockerRabbit } from './test-services/docker-services.ts';
import { embeddedPostgres } from './test-services/embedded-postgres.ts';
import { installedRabbit } from './test-services/installed-rabbit.ts';
import type { TestServer } from './test-services/test-server.ts';

export interface TestServices {
  databaseUrl: string;
  /** Absent if there is no RabbitMQ; `how` says why. */
  amqpUrl?: string;
  /** Where each server came from, or why there is none: for people. */
  how: { postgres: string; rabbitmq: string };
  /** Stops the servers that were started here. */
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  log: (line: string) => void;
  /** Servers that already run are named by `<prefix>_DATABASE_URL` and `<prefix>_AMQP_URL`; default `TEST`. */
  prefix?: string;
  /** Whether RabbitMQ is needed. Default true. */
  rabbitmq?: boolean;
  /** Whether Postgres waits for the disk, as in production. Default false. */
  durable?: boolean;
}

/** A way to get a server: returns one, or the reason why it cannot. */
type Source = () => Promise<TestServer | string>;

/**
 * Finds Postgres and RabbitMQ for the tests: those of `TEST_DATABASE_URL` and `TEST_AMQP_URL`. Else, Postgres is the
 * embedded one, and RabbitMQ runs in a container if Docker is running, or is the one installed on this machine, started
 * privately in a temporary folder. Servers started here are also stopped when the process ends.
 * @throws if there is no Postgres
 */
export async function startTestServices({
  log,
  prefix = 'TEST',
  rabbitmq: needsRabbit = true,
  durable = false,
}: TestServiceOptions): Promise<TestServices> {
  const servers: TestServer[] = [];
  const stop = stopOnExit(servers);
  try {
    const [postgres, rabbitmq] = await Promise.all([
      firstOf(servers, [serverOf(`${prefix}_DATABASE_URL`), () => embeddedPostgres({ durable })]),
      firstOf(
        servers,
        needsRabbit ? [serverOf(`${prefix}_AMQP_URL`), dockerRabbit, installedRabbit] : [unneeded],
      ),
    ]);
    log(`Postgres: ${postgres.how}`);
    log(`RabbitMQ: ${rabbitmq.how}`);
    if (postgres.url === undefined) throw new Error(`the tests need Postgres: ${postgres.how}`);
    return {
      databaseUrl: postgres.url,
      ...(rabbitmq.url === undefined ? {} : { amqpUrl: rabbitmq.url }),
      how: { postgres: postgres.how, rabbitmq: rabbitmq.how },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const unneeded: Source = async () => 'not requested';

const serverOf = (variable: string): Source => {
  const url = process.env[variable];
  return async () =>
    url === undefined
      ? `${variable} is not set`
      : { url, how: `the server of ${variable}`, stop: async () => undefined, stopNow: () => undefined };
};

async function firstOf(servers: TestServer[], sources: Source[]): Promise<{ url?: string; how: string }> {
  const reasons: string[] = [];
  for (const source of sources) {
    const outcome = await source().catch((error: unknown) => String(error).split('\n')[0]!);
    if (typeof outcome !== 'string') {
      servers.push(outcome);
      return outcome;
    }
    reasons.push(outcome);
  }
  return { how: `none: ${reasons.join('; ')}` };
}

function stopOnExit(servers: TestServer[]): () => Promise<void> {
  const stopNow = () => {
    for (const server of servers.splice(0)) server.stopNow();
  };
  const onSignal = (signal: NodeJS.Signals) => {
    stopNow();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  const forget = atExit(stopNow);
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    forget();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
