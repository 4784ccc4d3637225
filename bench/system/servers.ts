import { randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
import pg from 'pg';
import { startTestServices } from '../../scripts/test-services.ts';
import { nameOf, parentOf } from '../load/process-tree.ts';

/** Postgres and RabbitMQ, as used by the benchmarks. */
export interface BenchServers {
  amqpUrl: string;
  versions: { postgres: string; rabbitmq: string };
  /** The main process of Postgres; undefined if it runs elsewhere. */
  postgresPid: number | undefined;
  /** Creates an empty database for one benchmark. */
  createDatabase(): Promise<BenchDatabase>;
  /** Stops the servers that were started. */
  stop(): Promise<void>;
}

/** A database that `drop` removes. */
export interface BenchDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Finds both servers, or starts them with durable settings. Throws an error with the reason if one is not available. */
export async function startServers(log: (line: string) => void): Promise<BenchServers> {
  const services = await startTestServices({ log, prefix: 'BENCH', durable: true });
  const { databaseUrl: server, amqpUrl, how } = services;
  try {
    if (amqpUrl === undefined)
      throw new Error(`the benchmarks need RabbitMQ (BENCH_AMQP_URL): ${how.rabbitmq}`);
    return {
      amqpUrl,
      versions: { postgres: await postgresVersion(server), rabbitmq: await rabbitVersion(amqpUrl) },
      postgresPid: await postgresPid(server),
      createDatabase: () => createDatabase(server),
      stop: services.stop,
    };
  } catch (error) {
    await services.stop();
    throw error;
  }
}

async function createDatabase(server: string): Promise<BenchDatabase> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await run(server, `create database ${name}`);
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).toString(),
    drop: async () => {
      await run(server, `drop database if exists ${name} with (force)`);
    },
  };
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function postgresVersion(url: string): Promise<string> {
  const [row] = await run(
    url,
    `select current_setting('server_version') || ' (fsync ' || current_setting('fsync') ||
       ', synchronous_commit ' || current_setting('synchronous_commit') || ')' as version`,
  );
  return String(row?.version);
}

/** Every connection has a process, whose parent is the main process. */
async function postgresPid(url: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]!.pid;
    return nameOf(pid) === 'postgres' ? parentOf(pid) : undefined;
  } finally {
    await client.end();
  }
}

async function rabbitVersion(url: string): Promise<string> {
  const connection = await connect(url);
  const { version } = connection.connection.serverProperties;
  await connection.close();
  return String(version);
}
