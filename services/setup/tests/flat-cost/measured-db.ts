import type { Db, Tx } from '@secrets/db';
import { callSite } from './call-sites.ts';

/** One execution of a statement of the product. */
export interface Measured {
  /** Where the statement is, as `file:line`. */
  site: string;
  text: string;
  /** Pages of tables and indexes that it read or wrote, also for foreign keys and triggers. */
  pages: number;
  /** Rows or index entries that it looked at. */
  scanned: number;
  /** Rows that it inserted, updated or deleted, also by cascades. */
  written: number;
  returned: number;
}

/** A transaction that functions can use as if it were the whole database. */
export type CaseDb = Db & Tx;

type Counters = Pick<Measured, 'pages' | 'scanned' | 'written'>;

// Postgres counts these for the current transaction: https://www.postgresql.org/docs/current/monitoring-stats.html. Unlike
// EXPLAIN, which neither uses generic plans nor counts what triggers do, they describe the execution itself.
const firstUserOid = 16_384;
const countersText = `select sum(pg_stat_get_xact_blocks_fetched(oid)) as pages,
    sum(pg_stat_get_xact_tuples_returned(oid)) as scanned,
    sum(pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid) + pg_stat_get_xact_tuples_deleted(oid)) as written
  from pg_class where oid >= ${firstUserOid} and relkind in ('r', 'i', 't', 'm')`;

const undone = new Error('undone');

/**
 * Runs `work` in a transaction as a role, and measures each statement that the product executes in it. Everything is rolled
 * back.
 */
export async function measure(
  db: Db,
  role: string | undefined,
  work: (db: CaseDb) => Promise<unknown>,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  try {
    await db.transaction(async (tx) => {
      // The counters are those of this connection: what parallel workers read would be missing.
      await tx.query('set local max_parallel_workers_per_gather = 0');
      if (role !== undefined) await tx.query(`set local role ${role}`);
      await work(measuring(tx, measured));
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return measured;
}

function measuring(tx: Tx, measured: Measured[]): CaseDb {
  const counters = async (): Promise<Counters> => {
    const [row] = await tx.query<Record<keyof Counters, string>>(countersText);
    return { pages: Number(row!.pages), scanned: Number(row!.scanned), written: Number(row!.written) };
  };
  const query = async <Row>(text: string, params?: readonly unknown[]): Promise<Row[]> => {
    const site = callSite(new Error().stack);
    if (site === undefined) return tx.query<Row>(text, params); // a case prepares its own data
    const before = await counters();
    const rows = await tx.query<Row>(text, params);
    const after = await counters();
    measured.push({
      site,
      text,
      pages: after.pages - before.pages,
      scanned: after.scanned - before.scanned,
      written: after.written - before.written,
      returned: rows.length,
    });
    return rows;
  };
  const measuringTx = { query, script: tx.script, now: Date.now, close: async () => {} };
  return { ...measuringTx, transaction: (inner) => inner(measuringTx) };
}

/**
 * Returns the generic plan of a statement of a role, as it would be if the session avoided no kind of scan: an index
 * that is read as a whole is no better.
 */
export async function planOf(db: Db, role: string | undefined, text: string): Promise<string> {
  const parameters = new Set(text.match(/\$\d+/g));
  const nulls = parameters.size === 0 ? '' : `(${Array(parameters.size).fill('null')})`;
  return db.transaction(async (tx) => {
    if (role !== undefined) await tx.query(`set local role ${role}`);
    await tx.script('set local max_parallel_workers_per_gather = 0');
    await tx.script('set local enable_seqscan = on; set local enable_bitmapscan = on');
    await tx.script(`prepare planned as ${text}`);
    const lines = await tx.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute planned${nulls}`);
    await tx.script('deallocate planned');
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  });
}
