import type { Sql } from '@secrets/db';
import type { BoundRow } from './row-guard.ts';
import { boundTokenColumns, type TokenColumns, tokenRow } from './token-row.ts';

/** A row that the row key binds, as it is stored. */
export interface StoredRow {
  row: BoundRow;
  rowHash: string | null;
  /** The part of it that a person looks at. */
  shown: unknown;
  /** The position after it, in the order of its table. */
  next: RowPosition;
}

/** The key of a row in its table; empty before the first one. */
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
    next: [`\\x${hash.toString('hex')}`],
  }));
}
