import type { Sql } from '@secrets/db';
import { type Aad, sealedHeaderBytes } from '@secrets/seal';

/**
 * A column with sealed bytes: where it is, and what its bytes are sealed for. Names are part of statements, so they must be
 * constants.
 */
export interface SealedTable<Column extends string = string> {
  /** Schema and table. */
  name: string;
  column: string;
  /** The columns of the primary key, in its order, with their types. */
  key: readonly (readonly [column: string, type: 'uuid' | 'text' | 'bytea' | 'integer'])[];
  /** SQL expressions for what identifies a row in its associated data; `t` is the table. */
  aadColumns: Readonly<Record<Column, string>>;
  aadOf(columns: Readonly<Record<Column, string>>): Aad;
}

/** Declares a table. The names of its associated data are inferred. */
export const sealedTable = <Column extends string>(table: SealedTable<Column>): SealedTable =>
  table as SealedTable;

/** The values of the primary key, as text. */
export type RowKey = readonly string[];

interface ScannedRow {
  key: RowKey;
  /** The first bytes of what is sealed; null if the row has nothing sealed. */
  header: Uint8Array | null;
  bytes: number;
}

interface SealedRow {
  key: RowKey;
  aad: Aad;
  sealed: Uint8Array;
}

/** Reads the rows after a key, in the order of the primary key, without the sealed bytes. */
export function scanRows(
  sql: Sql,
  table: SealedTable,
  after: RowKey | undefined,
  limit: number,
): Promise<ScannedRow[]> {
  const columns = columnsOf(table);
  const values = table.key.map(([, type], index) => `$${index + 2}::text::${type}`).join(', ');
  const beyond = after === undefined ? '' : `where (${columns}) > (${values})`;
  return sql.query<ScannedRow>(
    `select array[${asText(table)}] as key, substring(t.${table.column} from 1 for ${sealedHeaderBytes}) as header,
       coalesce(octet_length(t.${table.column}), 0) as bytes
     from ${table.name} t ${beyond} order by ${columns} limit $1`,
    [limit, ...(after ?? [])],
  );
}

/** Locks rows and reads what is sealed in them. Rows that another transaction has locked, or has deleted, are missing. */
export async function lockRows(sql: Sql, table: SealedTable, keys: readonly RowKey[]): Promise<SealedRow[]> {
  const aadColumns = Object.entries(table.aadColumns).map(([name, expression]) => `'${name}', ${expression}`);
  const rows = await sql.query<Omit<SealedRow, 'aad'> & { aad: Record<string, string> }>(
    `select v.* from ${unnested(table)} cross join lateral (
       select array[${asText(table)}] as key, t.${table.column} as sealed, jsonb_build_object(${aadColumns.join(', ')}) as aad
       from ${table.name} t where ${sameKey(table)} and t.${table.column} is not null
       for update of t skip locked) v`,
    columnArrays(table, keys),
  );
  return rows.map(({ key, sealed, aad }) => ({ key, sealed, aad: table.aadOf(aad) }));
}

/** Replaces what is sealed in rows that this transaction has locked. */
export async function replaceSealed(
  sql: Sql,
  table: SealedTable,
  rows: readonly Pick<SealedRow, 'key' | 'sealed'>[],
): Promise<void> {
  const sealed = rows.map((row) => row.sealed);
  await sql.query(
    `update ${table.name} t set ${table.column} = n.sealed from ${unnested(table, 'sealed')} where ${sameKey(table)}`,
    [
      ...columnArrays(
        table,
        rows.map(({ key }) => key),
      ),
      sealed,
    ],
  );
}

const columnsOf = ({ key }: SealedTable): string => key.map(([column]) => `t.${column}`).join(', ');

/** `bytea` has the same text in each direction, unless the server's `bytea_output` is changed: hex is its default. */
const asText = ({ key }: SealedTable): string => key.map(([column]) => `t.${column}::text`).join(', ');

/** One array parameter for each column of the key, and one for the sealed bytes. */
function unnested({ key }: SealedTable, sealed?: 'sealed'): string {
  const arrays = key.map((_, index) => `$${index + 1}::text[]`);
  const names = key.map((_, index) => `k${index}`);
  if (sealed !== undefined) arrays.push(`$${key.length + 1}::bytea[]`);
  return `unnest(${arrays.join(', ')}) n(${[...names, ...(sealed ? [sealed] : [])].join(', ')})`;
}

const sameKey = ({ key }: SealedTable): string =>
  key.map(([column, type], index) => `t.${column} = n.k${index}::${type}`).join(' and ');

const columnArrays = ({ key }: SealedTable, keys: readonly RowKey[]): string[][] =>
  key.map((_, index) => keys.map((one) => one[index]!));
