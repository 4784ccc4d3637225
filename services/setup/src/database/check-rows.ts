import { createHash, type Hash } from 'node:crypto';
import {
  type BoundRow,
  type ContentTable,
  contentTableNames,
  type RowGuard,
  type RowPosition,
  readStoredContent,
  readStoredTokens,
  replaceRowHash,
  rowGuard,
  type StoredRow,
} from '@secrets/access';
import type { Db, Sql } from '@secrets/db';
import { canonicalJson } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';

/** A row for a person to look at. */
export interface ListedRow extends Pick<BoundRow, 'table' | 'name'> {
  /** `bound` only for the key that was asked for. */
  state: 'no hash' | 'not as login has written it' | 'bound';
  content: unknown;
}

export interface CheckOptions {
  /** The ID of a row key, to list what it binds. */
  listedKey?: string | undefined;
  onListed(row: ListedRow): void;
  pageSize?: number;
}

/** The number of rows without a hash, of rows that were changed, and of rows by the key that binds them. */
export interface RowCounts {
  noHash: number;
  changed: number;
  keys: Record<string, number>;
  /** Stands for the content of the rows without a hash, other than tokens; for `bindRows`. */
  digest: string;
}

/** Verifies every row that the row key binds, and lists those that are not as login has written them. Changes nothing. */
export async function checkRows(
  sql: Sql,
  rowKeys: KeyRing,
  { listedKey, onListed, pageSize = 1_000 }: CheckOptions,
): Promise<RowCounts> {
  const guard = rowGuard(rowKeys);
  const [counts, digest] = [{ noHash: 0, changed: 0, keys: {} as RowCounts['keys'] }, createHash('sha256')];
  for await (const stored of everyRow(sql, pageSize)) {
    const { row, rowHash, shown } = stored;
    const state = stateOf(stored, guard);
    const key = rowHash?.split(':', 1)[0] ?? '';
    if (state === 'no hash') counts.noHash += 1;
    else if (state === 'bound') counts.keys[key] = (counts.keys[key] ?? 0) + 1;
    else counts.changed += 1;
    if (rowHash === null && row.table !== 'login.tokens') addTo(digest, row);
    if (state !== 'bound' || key === listedKey)
      onListed({ table: row.table, name: row.name, state, content: shown });
  }
  return { ...counts, digest: digest.digest('hex') };
}

const stateOf = ({ row, rowHash }: StoredRow, guard: RowGuard): ListedRow['state'] => {
  if (rowHash === null) return 'no hash';
  return guard.accepts(row, rowHash) ? 'bound' : 'not as login has written it';
};

/**
 * Stores a hash in each row without one, other than tokens, if they are those that `checkRows` has listed. Returns their number.
 * @param digest the one that `checkRows` has returned
 * @throws if the rows have changed since; nothing is stored then
 */
export const bindRows = (db: Db, rowKeys: KeyRing, digest: string, pageSize = 1_000): Promise<number> =>
  db.transaction(async (tx) => {
    const [guard, found] = [rowGuard(rowKeys), createHash('sha256')];
    let count = 0;
    for (const table of contentTableNames)
      for await (const stored of contentOf(tx, table, pageSize)) {
        if (stored.rowHash !== null) continue;
        addTo(found, stored.row);
        if (await replaceRowHash(tx, table, stored, guard.hashOf(stored.row))) count += 1;
      }
    if (found.digest('hex') !== digest)
      throw new Error('the rows without a hash are not those that were listed; list them again');
    return count;
  });

const addTo = (digest: Hash, { table, values }: BoundRow): void =>
  void digest.update(`${canonicalJson([table, ...values])}\n`);

async function* everyRow(sql: Sql, pageSize: number): AsyncGenerator<StoredRow> {
  yield* pages((after) => readStoredTokens(sql, after, pageSize));
  for (const table of contentTableNames) yield* contentOf(sql, table, pageSize);
}

const contentOf = (sql: Sql, table: ContentTable, pageSize: number): AsyncGenerator<StoredRow> =>
  pages((after) => readStoredContent(sql, table, after, pageSize));

async function* pages(pageAfter: (position: RowPosition) => Promise<StoredRow[]>): AsyncGenerator<StoredRow> {
  let page = await pageAfter([]);
  while (page.length > 0) {
    yield* page;
    page = await pageAfter(page.at(-1)!.position);
  }
}
