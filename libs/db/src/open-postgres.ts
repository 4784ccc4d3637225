import { createHash } from 'node:crypto';
import { errorCode, Problem } from '@secrets/domain';
import pg from 'pg';
import type { Db, Params, Tx } from './db.ts';
import { TransactionGuard } from './transaction-guard.ts';

export interface PostgresOptions {
  url: string;
  /** Connections at most; default 10. */
  connections?: number;
  /** Milliseconds after which a statement is cancelled by the server; default 15,000. */
  statementTimeoutMs?: number;
  applicationName?: string;
  /** Told of a connection that broke while idle; the pool replaces it by itself. */
  onIdleError?: (error: Error) => void;
}

/**
 * Statements are few, and look rows up by key: a plan made for any parameters is as good as one made for these, and is
 * made once. Left to itself Postgres plans those with an array anew each time, for longer than they run.
 * https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-PLAN-CACHE-MODE
 */
const planOnce = '-c plan_cache_mode=force_generic_plan';

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

const statementNames = new Map<string, string>();

/** One prepared statement per text and connection: parsed and planned once. */
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    statementNames.set(text, name);
  }
  return name;
}

const run = async <Row>(
  client: pg.Pool | pg.PoolClient,
  text: string,
  params: Params = [],
): Promise<Row[]> => {
  const result = await client.query({ name: statementName(text), text, values: [...params] });
  return result.rows as Row[];
};

/**
 * Opens a pool on a Postgres server (15 or newer). Connections are made when needed, and replaced when they are lost:
 * a statement that the server did not answer throws the problem `unavailable`, and may have been carried out.
 */
export function openPostgres(options: PostgresOptions): Db {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: options.statementTimeoutMs ?? 15_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    options: planOnce,
    application_name: options.applicationName ?? 'secrets-service',
    types,
  });
  pool.on('error', (error) => options.onIdleError?.(error));
  const guard = new TransactionGuard();

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      return await work(client);
    } catch (error) {
      if (isConnectionLoss(error)) broken = error as Error;
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };

  return {
    query: <Row>(text: string, params?: Params) => {
      guard.assertOutside();
      return run<Row>(pool, text, params).catch(asUnavailable);
    },
    transaction: (work) =>
      guard.run(() => withClient((client) => inTransaction(client, work))).catch(asUnavailable),
    close: () => pool.end(),
  };
}

async function inTransaction<T>(client: pg.PoolClient, work: (tx: Tx) => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work({
      query: (text, params) => run(client, text, params),
      script: async (text) => {
        await client.query(text);
      },
    });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one worth telling
    throw error;
  }
}

function asUnavailable(error: unknown): never {
  if (!isConnectionLoss(error)) throw error;
  throw new Problem('unavailable', 'the database does not answer', { cause: error });
}

/** The words are those of pg for a connection that broke before, and of its pool for none in time; they have no code. */
const lossWords =
  /Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/;

/** Lost, refused, not to be had: the server stops, starts, is gone, or takes no more connections. */
function isConnectionLoss(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return (
    /^(08|57P|53300$|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EPIPE|ETIMEDOUT|ENOENT$)/.test(code) ||
    lossWords.test(String(error))
  );
}
