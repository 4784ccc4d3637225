import type { Sql } from '../db.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: `read_only_sql_transaction` */
export const readOnlyTransaction = '25006';

/** The server accepts no writes: it is a standby, or its operator has made it read-only. */
class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
  readonly code = readOnlyTransaction;

  constructor() {
    super('the database server accepts no writes');
  }
}

/**
 * A standby is always in this state.
 * https://www.postgresql.org/docs/current/hot-standby.html
 */
export const readState = `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** Rejects if the database cannot be reached or accepts no writes: a check of readiness. */
export async function checkDatabase(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ isReadOnly: boolean }>(readState);
  assertWritable(row);
}

/**
 * Throws if the server of a connection accepts no writes. During a failover, an address may lead to a standby that is not
 * promoted yet. Its data may be older than what was acknowledged, such as the revocation of a token, so nothing is read from it
 * either.
 */
export function assertWritable(row: { isReadOnly?: boolean } | undefined): void {
  if (row?.isReadOnly !== false) throw new ReadOnlyServerError();
}
