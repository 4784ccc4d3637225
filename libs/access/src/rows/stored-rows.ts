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
  owner: string;
  name: string;
  content: unknown;
  row_hash: string | null;
}

function contentPage(table: ContentTable, condition: string): string {
  const { owner, content } = contentTables[table];
  return `select ${owner} as owner, name, ${content} as content, row_hash from ${table}
    where (${owner}, name) > ($1, $2) ${condition} order by ${owner}, name limit $3`;
}

const storedContent =
  (table: ContentTable) =>
  ({ owner, name, content, row_hash: rowHash }: ContentColumns): StoredRow => ({
    row: contentRow(table, owner, name, content),
    rowHash,
    shown: content,
    position: [owner, name],
  });

/** Reads up to `limit` rows of a table after a position. */
export async function readStoredContent(
  sql: Sql,
  table: ContentTable,
  [owner = contentTables[table].firstOwner, name = '']: RowPosition,
  limit: number,
): Promise<StoredRow[]> {
  const rows = await sql.query<ContentColumns>(contentPage(table, ''), [owner, name, limit]);
  return rows.map(storedContent(table));
}

/** Reads up to `limit` rows of a table after a position, of those that a key binds. */
export async function readContentBoundBy(
  sql: Sql,
  table: ContentTable,
  keyId: string,
  [owner = contentTables[table].firstOwner, name = '']: RowPosition,
  limit: number,
): Promise<StoredRow[]> {
  const ofKey = `and split_part(row_hash, ':', 1) = $4`;
  const rows = await sql.query<ContentColumns>(contentPage(table, ofKey), [owner, name, limit, keyId]);
  return rows.map(storedContent(table));
}

/** Replaces the hash of a row that was read, unless the row has changed since. Returns whether it did. */
export async function replaceRowHash(
  sql: Sql,
  table: ContentTable,
  { position, rowHash, shown }: StoredRow,
  newHash: string | null,
): Promise<boolean> {
  const { owner, content } = contentTables[table];
  const replaced = await sql.query(
    `update ${table} set row_hash = $5
     where ${owner} = $1 and name = $2 and row_hash is not distinct from $3 and ${content} = $4::jsonb returning 1`,
    [...position, rowHash, JSON.stringify(shown), newHash],
  );
  return replaced.length > 0;
}
