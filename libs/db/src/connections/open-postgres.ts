import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '@secrets/domain';
import pg from 'pg';
import type { Db, Params, Tx } from '../db.ts';
import { DatabaseClock, readTime } from './database-clock.ts';
import { beginSession, type NewConnection, sessionSettings } from './session.ts';
import { TransactionGuard } from './transaction-guard.ts';
import { asUnavailable, isConnectionLoss } from './unavailable.ts';

export interface PostgresOptions {
  url: string;
  /** Maximum number of connections; default 10. */
  connections?: number;
  /** Milliseconds after which the server cancels a statement; default 15,000. */
  statementTimeoutMs?: number;
  /** Milliseconds that a statement waits for a lock before it fails with `unavailable`; default 5,000. */
  lockTimeoutMs?: number;
  /**
   * Milliseconds after which the connection of a statement that was neither answered nor cancelled counts as lost; default
   * 5,000 more than `statementTimeoutMs`.
   */
  responseTimeoutMs?: number;
  /** Milliseconds after which an unused connection is closed; default 60,000. */
  idleTimeoutMs?: number;
  applicationName?: string;
  /** Called when an idle connection breaks. The pool replaces it. */
  onIdleError?: (error: Error) => void;
}

const int8 = 20;
/** Parsers of values, as `Sql` promises them. */
export const types = {
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

/** A statement to send. Without a name, it is not prepared. */
interface Query {
  name?: string;
  text: string;
  values?: unknown[];
}

/**
 * A statement in the form that pg itself uses. Of an object with the same properties, pg makes a copy property by property, which
 * takes longer than everything else that it does to send the statement.
 */
class Statement extends pg.Query {
  /** Read by pg; undefined if the statement is not prepared. */
  readonly name: string | undefined;
  /** Milliseconds; read by pg. */
  readonly query_timeout: number | undefined;

  constructor({ name, text, values }: Query, limitMs: number | undefined, settled: Settled) {
    super(text, values, settled as never);
    this.name = name;
    this.query_timeout = limitMs;
  }
}

type Settled = (error: Error | null | undefined, result: pg.QueryResult) => void;

/** Runs a statement. The stack of an error leads to the caller, not to the socket that received it. */
async function runStatement(
  client: pg.ClientBase,
  query: Query,
  limitMs: number | undefined,
): Promise<pg.QueryResult> {
  try {
    return await new Promise((resolve, reject) => {
      const settled: Settled = (error, result) => (error ? reject(error) : resolve(result));
      client.query(new Statement(query, limitMs, settled));
    });
  } catch (error) {
    Error.captureStackTrace(error as Error);
    throw error;
  }
}

/** A connection of the pool while it is in use. */
interface Connection {
  /** Runs one statement. Without `limitMs`, it may take any time. */
  run(query: Query, limitMs: number | undefined): Promise<pg.QueryResult>;
  /** Rolls back what can be rolled back. Never throws: the error that led here is the one to report. */
  rollback(limitMs: number | undefined): Promise<void>;
}

/**
 * Opens a pool on a Postgres server (15 or newer). Connections are opened when needed, and replaced when they are lost or lead to
 * a server that accepts no writes. A statement that the server did not answer throws the problem `unavailable`; it may have been
 * executed.
 */
export function openPostgres(options: PostgresOptions): Db {
  const { statementTimeoutMs = 15_000 } = options;
  const limitMs = options.responseTimeoutMs ?? statementTimeoutMs + 5_000;
  const clock = new DatabaseClock();
  const pool = openPool(options, statementTimeoutMs, clock);
  const guard = new TransactionGuard();
  const onConnection = <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
    withConnection(pool, async (connection) => {
      if (clock.isDue) await clock.measure(async () => (await run<Time>(connection, limitMs, readTime))[0]);
      return work(connection);
    });
  return {
    query: <Row>(text: string, params?: Params) => {
      guard.assertOutside();
      return onConnection((connection) => run<Row>(connection, limitMs, text, params)).catch(asUnavailable);
    },
    transaction: (work, { isUnlimited = false } = {}) =>
      guard
        .run(() =>
          onConnection((connection) =>
            retryDeadlock(() => inTransaction(connection, work, isUnlimited ? undefined : limitMs)),
          ),
        )
        .catch(asUnavailable),
    now: clock.now,
    close: () => pool.end(),
  };
}

interface Time {
  now: number;
}

const connectMs = 10_000;

function openPool(options: PostgresOptions, statementTimeoutMs: number, clock: DatabaseClock): pg.Pool {
  const connection = {
    connectionString: options.url,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: options.applicationName ?? 'secrets-service',
    types,
  };
  // Not parameters of the start: poolers refuse or drop them.
  const settings = sessionSettings({ statementTimeoutMs, lockTimeoutMs: options.lockTimeoutMs ?? 5_000 });
  let compared: Promise<void> | undefined;
  // Once for all connections: each one would need a connection more than the pooler may allow.
  const compareOnce = (work: (other: NewConnection) => Promise<void>): Promise<void> => {
    compared ??= withOther(connection, work);
    compared.catch(() => {
      compared = undefined;
    });
    return compared;
  };
  const pool = new pg.Pool({
    ...connection,
    max: options.connections ?? 10,
    idleTimeoutMillis: options.idleTimeoutMs ?? 60_000,
    verify: (client, done) =>
      void beginSession(client as unknown as NewConnection, settings, connectMs, compareOnce)
        .then(() => clock.measure(() => timeOf(client)))
        .then(() => done(), done),
  });
  pool.on('error', (error) => options.onIdleError?.(error));
  // A server that stops may send its last message together with the end of the connection's start, before anyone can
  // listen. The connection then refuses its first statement.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function timeOf(client: pg.ClientBase): Promise<Time | undefined> {
  const { rows } = await runStatement(client, { text: readTime }, connectMs);
  return (rows as Time[])[0];
}

/** Runs `work` on a connection outside of the pool. */
async function withOther(
  connection: pg.ClientConfig,
  work: (other: NewConnection) => Promise<void>,
): Promise<void> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client as unknown as NewConnection);
  } finally {
    await client.end();
  }
}

/** Runs `work` on a connection of the pool. A connection that is lost in the meantime is closed, not reused. */
async function withConnection<T>(pool: pg.Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let lost: Error | undefined;
  const onError = (error: Error) => {
    lost = error;
  };
  client.on('error', onError);
  const send: Connection['run'] = async (query, limitMs) => {
    try {
      return await runStatement(client, query, limitMs);
    } catch (error) {
      if (isConnectionLoss(error)) lost = error as Error;
      throw error;
    }
  };
  const rollback: Connection['rollback'] = async (limitMs) => {
    if (lost === undefined) await send({ text: 'rollback' }, limitMs).catch(onError);
  };
  try {
    return await work({ run: send, rollback });
  } finally {
    client.off('error', onError);
    client.release(lost);
  }
}

async function run<Row>(
  connection: Connection,
  limitMs: number | undefined,
  text: string,
  params: Params = [],
): Promise<Row[]> {
  const query = { name: statementName(text), text, values: [...params] };
  const { rows } = await connection.run(query, limitMs);
  return rows as Row[];
}

async function inTransaction<T>(
  connection: Connection,
  work: (tx: Tx) => Promise<T>,
  limitMs: number | undefined,
): Promise<T> {
  const script = async (text: string) => {
    await connection.run({ text }, limitMs);
  };
  await script('begin');
  try {
    if (limitMs === undefined) await script('set local statement_timeout = 0; set local lock_timeout = 0');
    const result = await work({
      query: (text, params) => run(connection, limitMs, text, params),
      script,
    });
    await script('commit');
    return result;
  } catch (error) {
    await connection.rollback(limitMs);
    throw error;
  }
}

const deadlockDetected = '40P01';

/** Much longer than a server process takes to get a lock that it waits for, also on a busy machine. */
const deadlockPauseMs = 50;

/**
 * Runs a transaction again, once, if Postgres rolled it back to end a deadlock. The pause lets the other transaction take the
 * lock that it waited for. Without it, both could take their first lock again and end in the same deadlock.
 */
async function retryDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    if (errorCode(error) !== deadlockDetected) throw error;
    await sleep(deadlockPauseMs);
    return transaction();
  }
}
