import type { Db } from '../db.ts';

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

/**
 * Rejects if the database cannot be reached, or accepts or completes no writes: a check of readiness. A server whose disk is
 * full, or whose commits wait for a standby that is gone, still answers reads.
 */
export async function checkDatabase(db: Db): Promise<void> {
  const [row] = await db.query<{ isReadOnly: boolean }>(readState);
  assertWritable(row);
  await writeSometimes(db);
}

const writeIntervalMs = 3_000;

interface Writes {
  running: Promise<void> | undefined;
  succeededAt: number;
}

const writesTo = new WeakMap<Db, Writes>();

/** Writes to the database, unless that succeeded a moment ago. Concurrent checks share one write, also if it hangs. */
function writeSometimes(db: Db): Promise<void> {
  const writes = writesTo.get(db) ?? { running: undefined, succeededAt: Number.NEGATIVE_INFINITY };
  writesTo.set(db, writes);
  if (performance.now() - writes.succeededAt < writeIntervalMs) return Promise.resolve();
  writes.running ??= write(db)
    .then(() => {
      writes.succeededAt = performance.now();
    })
    .finally(() => {
      writes.running = undefined;
    });
  return writes.running;
}

/**
 * Needs neither a table nor a privilege: an update of a row succeeds on a full disk as long as its page has room. What exceeds
 * `work_mem` needs new blocks of a temporary file, on the disk of the database. The message is written to the log of the server,
 * so that the transaction has something to commit.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-WORK-MEM
 * https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-REPLICATION
 */
const write = (db: Db): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.script(`set local work_mem = '64kB'; set local temp_tablespaces = ''`);
    await tx.query(
      `select pg_logical_emit_message(true, 'secrets-service', '') from (select count(*) from generate_series(1, 16384)) as rows`,
    );
  });

/**
 * Throws if the server of a connection accepts no writes. During a failover, an address may lead to a standby that is not
 * promoted yet. Its data may be older than what was acknowledged, such as the revocation of a token, so nothing is read from it
 * either.
 */
export function assertWritable(row: { isReadOnly?: boolean } | undefined): void {
  if (row?.isReadOnly !== false) throw new ReadOnlyServerError();
}
