import { randomUUID } from 'node:crypto';
import { assertWritable, readState } from './writable.ts';

/** The part of a connection that is needed to prepare it for the pool. */
export interface NewConnection {
  /** The server process, as the server or a pooler named it when the connection began. */
  processID: number | null;
  /** Runs several statements, with a result for each. */
  query(query: { text: string; query_timeout: number }): Promise<unknown>;
}

/** The session cannot be used as the services need it. The message is for the operator. */
export class UnsupportedSessionError extends Error {
  override readonly name = 'UnsupportedSessionError';
}

interface Timeouts {
  statementTimeoutMs: number;
  lockTimeoutMs: number;
}

/**
 * Settings of a session on which the statements and the types of this library depend, by their names in `pg_settings`. A
 * server, database or role may have other defaults. `default_transaction_read_only` is not among them: whoever sets it wants no
 * writes. Neither is `synchronous_commit`: how durable commits are is decided by who runs the server.
 *
 * The plans: services run few different statements, which look rows up by key, so a generic plan is as good as a custom one,
 * and is created once. By default, Postgres replans statements with an array parameter each time, which takes longer than they
 * run. A connection keeps a plan until the tables are analysed again. What was planned for a table of a few rows would read all
 * of it after it has grown: a check of a token took 0.5 s with 200,000 tokens. Where there is no index, Postgres scans the
 * table anyway; versions before 18 then count a huge cost, which would make them compile the statement. While Postgres has no
 * statistics of a table, as after a restore, it would also combine the index by the key with others that it reads as a whole.
 * https://www.postgresql.org/docs/current/runtime-config-query.html
 * https://www.postgresql.org/docs/current/runtime-config-client.html
 */
export const sessionSettings = ({ statementTimeoutMs, lockTimeoutMs }: Timeouts): Record<string, string> => ({
  statement_timeout: `${statementTimeoutMs}`,
  lock_timeout: `${lockTimeoutMs}`,
  idle_in_transaction_session_timeout: '30000',
  idle_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  search_path: 'public',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
});

const marker = 'secrets_service.session';

/** Since PostgreSQL 17. */
export const noTransactionTimeout = `select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`;

const readMarker = `select nullif(current_setting('${marker}', true), '') as marker`;

interface Row {
  isReadOnly?: boolean;
  pid?: number;
  marker?: string | null;
  name?: string;
  setting?: string;
}

/** Runs several statements, and returns the rows of all. */
async function rowsOf(connection: NewConnection, statements: string[], limitMs: number): Promise<Row[]> {
  const text = statements.join('; ');
  const results = await connection.query({ text, query_timeout: limitMs });
  return [results].flat().flatMap((result) => (result as { rows: Row[] }).rows);
}

/**
 * Prepares a new connection: states its settings, checks that they are in force, and that its server accepts writes. One round
 * trip; behind a pooler, a few more.
 * @param openOther opens another connection, runs the statement on it, and closes it
 * @throws {UnsupportedSessionError}
 */
export async function beginSession(
  connection: NewConnection,
  settings: Record<string, string>,
  limitMs: number,
  openOther: (work: (other: NewConnection) => Promise<void>) => Promise<void>,
): Promise<void> {
  const own = randomUUID();
  // The time limits come first: each of these statements is subject to them, and a role may have very short ones.
  const stated = Object.entries(settings).map(([name, value]) => `set ${name} = ${literal(name, value)}`);
  const inForce = `select name, setting from pg_settings where name in (${Object.keys(settings).map(quoted)})`;
  const rows = await rowsOf(
    connection,
    [
      ...stated,
      noTransactionTimeout,
      readState,
      'select pg_backend_pid() as pid',
      readMarker,
      `set ${marker} = '${own}'`,
      inForce,
    ],
    limitMs,
  );
  assertWritable(rows.find((row) => 'isReadOnly' in row));
  requireInForce(rows, settings);
  requireUnused(rows);
  if (rows.find((row) => 'pid' in row)?.pid === connection.processID) return;
  // A pooler names other processes than the server does. It may lend the server's connection to another client after each
  // transaction.
  const later = await rowsOf(connection, [readMarker, inForce], limitMs);
  if (later.find((row) => 'marker' in row)?.marker !== own) throw shared();
  requireInForce(later, settings);
  await openOther(async (other) => requireUnused(await rowsOf(other, [readMarker], limitMs)));
}

const quoted = (text: string) => `'${text}'`;

/** `search_path` is a list: a string would be the name of one schema. */
const literal = (name: string, value: string) =>
  name === 'search_path' || name === 'DateStyle' ? value : quoted(value);

function requireInForce(rows: readonly Row[], settings: Record<string, string>): void {
  const found = new Map(rows.map(({ name, setting }) => [name, setting]));
  const wrong = Object.entries(settings).flatMap(([name, value]) =>
    found.get(name) === value ? [] : [name],
  );
  if (wrong.length > 0)
    throw new UnsupportedSessionError(
      `settings of the database session that were stated are not in force: ${wrong.join(', ')}; a pooler between this process and PostgreSQL must pass on SET, and keep it for the session`,
    );
}

/** The mark of another client's session shows that connections are shared. */
function requireUnused(rows: readonly Row[]): void {
  if (rows.some(({ marker: other }) => typeof other === 'string')) throw shared();
}

const shared = () =>
  new UnsupportedSessionError(
    'the database is behind a pooler that lends a connection to other clients before the session ends, such as PgBouncer in transaction or statement mode; ' +
      'this is not supported, because settings and prepared statements would be lost or those of others: use session mode with server_reset_query = DISCARD ALL, or connect to PostgreSQL directly',
  );
