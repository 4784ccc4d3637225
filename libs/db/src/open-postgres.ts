import { createHash } from 'node:crypto';
import { errorCode, Problem } from '@secrets/domain';
import pg from 'pg';
import type { Db, Params, Tx } from './db.ts';
import { TransactionGuard } from './transaction-guard.ts';

export interface PostgresOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  connections?: number;
  /** Milliseconds after which the server cancels a statement; default 15,000. */
  statementTimeoutMs?: number;
  applicationName?: string;
  /** Called when an idle connection breaks. The pool replaces it. */
  onIdleError?: (error: Error) => void;
}

/**
 * The services run few different statements, which look rows up by key: a generic plan is as good as a custom one, and is
 * created once. By default, Postgres replans statements with an array parameter each time, which takes longer than they run.
 * https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-PLAN-CACHE-MODE
 */
const genericPlans = '-c plan_cache_mode=force_generic_plan';

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

const statementNames = new Map<string, string>();

/** Names the prepared statement of a text: each connection parses and plans it once. */
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
 * Opens a pool on a Postgres server (15 or newer). Connections are opened when needed, and replaced when they are lost. A
 * statement that the server did not answer throws the problem `unavailable`; it may have been executed.
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
    options: genericPlans,
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
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

function asUnavailable(error: unknown): never {
  if (!isConnectionLoss(error)) throw error;
  throw new Problem('unavailable', 'the database is unavailable', { cause: error });
}

/** Messages of pg for a broken connection, and of its pool for a connection timeout. These errors have no code. */
const lossMessages =
  /Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/;

/** Whether no connection was available or it was lost: the server is starting, stopping or down, or has no free connection. */
function isConnectionLoss(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return (
    /^(08|57P|53300$|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EPIPE|ETIMEDOUT|ENOENT$)/.test(code) ||
    lossMessages.test(String(error))
  );
}
