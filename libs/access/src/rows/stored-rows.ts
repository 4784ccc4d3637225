import type { Sql } from '@secrets/db';
import { type ContentTable, contentRow, contentTables } from './content-row.ts';
import type { BoundRow } from './row-guard.ts';
import { boundTokenColumns, type TokenColumns, tokenRow } from './token-row.ts';

/** A row that the row key binds, as it is stored. */
export interface StoredRow {
  row: BoundRow;
  rowHash: string | null;
  /** The part of it that a person looks at. */
  shown: unknown;
  position: RowPosition;
}

/** The key of a row in its table, in whose order rows are read; empty before the first one. */
export type RowPosition = readonly string[];

const tokenPage = `select hash, row_hash, ${boundTokenColumns.join(', ')} from login.tokens
  where hash > $1::bytea order by hash limit $2`;

/** Reads up to `limit` tokens after a position. */
export async function readStoredTokens(
  sql: Sql,
  [after = '']: RowPosition,
  limit: number,
): Promise<StoredRow[]> {
  const rows = await sql.query<TokenColumns & { hash: Buffer; row_hash: string | null }>(tokenPage, [
    after,
    limit,
  ]);
  return rows.map(({ hash, row_hash: rowHash, ...columns }) => ({
    row: tokenRow(hash, columns),
    rowHash,
    shown: { display_name: columns.display_name, policies: columns.policies },
    position: [`\\x${hash.toString('hex')}`],
  }));
}

interface ContentColumns {
  key: string[];
  content: unknown;
  row_hash: string | null;
}

/** Reads a page of a table. The condition may name the parameter after those of the position and the limit. */
function contentPage(table: ContentTable, condition = ''): string {
  const { key, content } = contentTables[table];
  const position = key.map((_, at) => `$${at + 1}`);
  return `select array[${key.map((column) => `${column}::text`)}] as key, ${content} as content, row_hash from ${table}
    where (${key}) > (${position}) ${condition} order by ${key} limit $${key.length + 1}`;
}

const storedContent =
  (table: ContentTable) =>
  ({ key, content, row_hash: rowHash }: ContentColumns): StoredRow => ({
    row: contentRow(table, key, content),
    rowHash,
    shown: content,
    position: key,
  });

const startOf = (table: ContentTable, position: RowPosition): RowPosition =>
  position.length === 0 ? contentTables[table].first : position;

/** Reads up to `limit` rows of a table after a position. */
export async function readStoredContent(
  sql: Sql,
  table: ContentTable,
  position: RowPosition,
  limit: number,
): Promise<StoredRow[]> {
  const rows = await sql.query<ContentColumns>(contentPage(table), [...startOf(table, position), limit]);
  return rows.map(storedContent(table));
}

/** Reads up to `limit` rows of a table after a position, of those that a key binds. */
export async function readContentBoundBy(
  sql: Sql,
  table: ContentTable,
  keyId: string,
  position: RowPosition,
  limit: number,
): Promise<StoredRow[]> {
  const start = startOf(table, position);
  const ofKey = `and split_part(row_hash, ':', 1) = $${start.length + 2}`;
  const rows = await sql.query<ContentColumns>(contentPage(table, ofKey), [...start, limit, keyId]);
  return rows.map(storedContent(table));
}

/** Replaces the hash of a row that was read, unless the row has changed since. Returns whether it did. */
export async function replaceRowHash(
  sql: Sql,
  table: ContentTable,
  { position, rowHash, shown }: StoredRow,
  newHash: string | null,
): Promise<boolean> {
  const { key, content } = contentTables[table];
  const ofRow = key.map((column, at) => `${column} = $${at + 4}`).join(' and ');
  const replaced = await sql.query(
    `update ${table} set row_hash = $3
     where ${ofRow} and row_hash is not distinct from $1 and ${content} = $2::jsonb returning 1`,
    [rowHash, JSON.stringify(shown), newHash, ...position],
  );
  return replaced.length > 0;
}
