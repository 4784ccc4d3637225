import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** The amounts that the services wrote to the database in a minute. */
export interface Written {
  rows: number;
  transactions: number;
  walBytes: number;
  rowsByTable: Record<string, number>;
}

interface Counters {
  rowsByTable: Record<string, number>;
  transactions: number;
  walBytes: number;
}

/** An idle connection adds what it has written to the statistics after at most ten seconds (`PGSTAT_IDLE_INTERVAL`). */
const reportingMs = 11_000;

/** Counts for this many seconds what all services write. */
export async function writtenPerMinute(database: pg.Client, seconds: number): Promise<Written> {
  await sleep(reportingMs);
  const before = await readCounters(database);
  await sleep(seconds * 1_000);
  const after = await readCounters(database);
  const perMinute = (late: number, early: number) => ((late - early) * 60) / seconds;
  const tables = Object.entries(after.rowsByTable);
  const rowsByTable = Object.fromEntries(
    tables
      .map(([table, rows]) => [table, perMinute(rows, before.rowsByTable[table] ?? 0)] as const)
      .filter(([, rows]) => rows > 0),
  );
  return {
    rows: Object.values(rowsByTable).reduce((sum, rows) => sum + rows, 0),
    transactions: perMinute(after.transactions, before.transactions),
    walBytes: perMinute(after.walBytes, before.walBytes),
    rowsByTable,
  };
}

/** The rows of each table, most first: `24 sync.entries, 16 login.seal_keys`. */
export const describeTables = ({ rowsByTable }: Written): string =>
  Object.entries(rowsByTable)
    .toSorted(([, a], [, b]) => b - a)
    .map(([table, rows]) => `${rows.toFixed(0)} ${table}`)
    .join(', ');

async function readCounters(database: pg.Client): Promise<Counters> {
  const { rows: tables } = await database.query<{ name: string; rows: string }>(
    `select schemaname || '.' || relname as name, n_tup_ins + n_tup_upd + n_tup_del as rows from pg_stat_user_tables`,
  );
  const { rows: totals } = await database.query<{ transactions: string; wal: string }>(
    `select xact_commit as transactions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal
       from pg_stat_database where datname = current_database()`,
  );
  return {
    rowsByTable: Object.fromEntries(tables.map(({ name, rows }) => [name, Number(rows)])),
    transactions: Number(totals[0]!.transactions),
    walBytes: Number(totals[0]!.wal),
  };
}
