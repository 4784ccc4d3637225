import { dockerPostgres, dockerRabbit, whyNoDocker } from './test-services/docker-services.ts';
import { installedPostgres } from './test-services/installed-postgres.ts';
import { installedRabbit } from './test-services/installed-rabbit.ts';
import type { TestServer } from './test-services/test-server.ts';

export interface TestServices {
  /** Absent when there is no Postgres to be had; `how` says why. */
  databaseUrl?: string;
  amqpUrl?: string;
  /** Where each came from, or why there is none: for people. */
  how: { postgres: string; rabbitmq: string };
  /** Stops what was started here. */
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  log: (line: string) => void;
  /** Servers that already run are named by `<prefix>_DATABASE_URL` and `<prefix>_AMQP_URL`; default `TEST`. */
  prefix?: string;
  /** Postgres with its own durable defaults in place of settings that only make it fast. Default false. */
  durable?: boolean;
}

/** Ways to a server, tried in order: each gives one, or the reason why it cannot. */
type Way = () => Promise<TestServer | string>;

/**
 * Finds Postgres and RabbitMQ for the tests: those of `TEST_DATABASE_URL` and `TEST_AMQP_URL`, else in containers of a
 * running Docker, else from what is installed on this machine, started privately in a temporary folder. What was
 * started is stopped at the end of the process too, also on SIGINT and SIGTERM.
 */
export async function startTestServices({
  log,
  prefix = 'TEST',
  durable = false,
}: TestServiceOptions): Promise<TestServices> {
  const servers: TestServer[] = [];
  const stop = stopping(servers);
  const [givenPostgres, givenRabbit] = [given(`${prefix}_DATABASE_URL`), given(`${prefix}_AMQP_URL`)];
  const noDocker = whyNoDocker(prefix);
  const viaDocker =
    (start: Way): Way =>
    async () =>
      (await noDocker) ?? (await start());
  try {
    const [postgres, rabbitmq] = await Promise.all([
      firstOf(servers, [
        givenPostgres,
        viaDocker(() => dockerPostgres({ durable })),
        () => installedPostgres({ durable }),
      ]),
      firstOf(servers, [givenRabbit, viaDocker(dockerRabbit), installedRabbit]),
    ]);
    log(`Postgres: ${postgres.how}`);
    log(`RabbitMQ: ${rabbitmq.how}`);
    return {
      ...(postgres.url === undefined ? {} : { databaseUrl: postgres.url }),
      ...(rabbitmq.url === undefined ? {} : { amqpUrl: rabbitmq.url }),
      how: { postgres: postgres.how, rabbitmq: rabbitmq.how },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const given = (name: string): Way => {
  const url = process.env[name];
  return async () =>
    url === undefined
      ? `${name} is not set`
      : { url, how: `the server of ${name}`, stop: async () => undefined, stopNow: () => undefined };
};

async function firstOf(servers: TestServer[], ways: Way[]): Promise<{ url?: string; how: string }> {
  const reasons: string[] = [];
  for (const way of ways) {
    const outcome = await way().catch((error: unknown) => String(error).split('\n')[0]!);
    if (typeof outcome !== 'string') {
      servers.push(outcome);
      return outcome;
    }
    reasons.push(outcome);
  }
  return { how: `none: ${reasons.join('; ')}` };
}

function stopping(servers: TestServer[]): () => Promise<void> {
  const stopNow = () => {
    for (const server of servers.splice(0)) server.stopNow();
  };
  const onSignal = (signal: NodeJS.Signals) => {
    stopNow();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('exit', stopNow);
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    process.off('exit', stopNow);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
