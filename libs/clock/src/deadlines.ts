import type { Sql } from '@secrets/db';
import { beforeSetBack, type ClockSchema } from './clock-row.ts';

/** SQL expressions: a column that is later than `limit` gets the time `set`. */
interface Bound {
  limit: string;
  set: string;
}

/**
 * A table with times that work waits for, or that are compared with such times. Names and expressions are part of statements, so
 * they must be constants.
 */
export interface DeadlineTable {
  /** Schema and table. */
  name: string;
  /** The column of the primary key, with its type. */
  key: readonly [column: string, type: 'uuid' | 'text' | 'bigint' | 'boolean'];
  columns: Readonly<Record<string, Bound>>;
}

/** Something waits until this time: it ends the wait. */
export const due = { limit: 'now()', set: 'now()' };

const leaseEnd = `now() + interval '30 seconds'`;

/** Until this time, a process works on the row. It may be calling a provider, which the next call should rarely overtake. */
export const lease = { limit: leaseEnd, set: leaseEnd };

/** When something happened. In the future, that was before the clock was set back. */
export const happened = (schema: ClockSchema): Bound => ({ limit: 'now()', set: beforeSetBack(schema) });

const isAhead = ({ columns }: DeadlineTable): string =>
  Object.entries(columns)
    .map(([name, { limit }]) => `${name} > ${limit}`)
    .join(' or ');

/** A row, and whether one of its times lies ahead. */
interface PageRow {
  key: string;
  isAhead: boolean;
}

/** Number of rows of a page. Part of the statement, so that no plan expects to read the whole table. */
export const pageSize = 1_000;

/** Reads a page of the rows after a key, in the order of the primary key. */
export function readPage(sql: Sql, table: DeadlineTable, after: string | undefined): Promise<PageRow[]> {
  const [column, type] = table.key;
  const beyond = after === undefined ? '' : `where t.${column} > $1::text::${type}`;
  return sql.query<PageRow>(
    `select t.${column}::text as key, (${isAhead(table)}) is true as "isAhead" from ${table.name} t ${beyond} order by t.${column} limit ${pageSize}`,
    after === undefined ? [] : [after],
  );
}

/**
 * Sets the times of these rows that lie ahead. Returns the rows that were changed. With `skipLocked`, leaves out those that
 * another transaction has locked.
 */
export async function pullBack(
  sql: Sql,
  table: DeadlineTable,
  keys: readonly string[],
  { skipLocked }: { skipLocked: boolean },
): Promise<string[]> {
  const [column, type] = table.key;
  const times = Object.entries(table.columns).map(
    ([name, { limit, set }]) => `${name} = case when ${name} > ${limit} then ${set} else ${name} end`,
  );
  const rows = await sql.query<{ key: string }>(
    `update ${table.name} set ${times.join(', ')}
      where ${column} = any(array(
        select ${column} from ${table.name} where ${column} = any($1::text[]::${type}[]) and (${isAhead(table)})
           for no key update ${skipLocked ? 'skip locked' : ''}))
      returning ${column}::text as key`,
    [keys],
  );
  return rows.map(({ key }) => key);
}
