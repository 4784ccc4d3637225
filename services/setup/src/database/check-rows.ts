import { type BoundRow, readStoredTokens, rowGuard, type StoredRow } from '@secrets/access';
import type { Db } from '@secrets/db';
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
}

/** Verifies every row that the row key binds, and lists those that are not as login has written them. Changes nothing. */
export async function checkRows(
  db: Db,
  rowKeys: KeyRing,
  { listedKey, onListed, pageSize = 1_000 }: CheckOptions,
): Promise<RowCounts> {
  const guard = rowGuard(rowKeys);
  const counts: RowCounts = { noHash: 0, changed: 0, keys: {} };
  for await (const { row, rowHash, shown } of storedRows(db, pageSize)) {
    const key = rowHash?.split(':', 1)[0] ?? '';
    const state =
      rowHash === null ? 'no hash' : guard.accepts(row, rowHash) ? 'bound' : 'not as login has written it';
    if (state === 'no hash') counts.noHash += 1;
    else if (state === 'bound') counts.keys[key] = (counts.keys[key] ?? 0) + 1;
    else counts.changed += 1;
    if (state !== 'bound' || key === listedKey)
      onListed({ table: row.table, name: row.name, state, content: shown });
  }
  return counts;
}

async function* storedRows(db: Db, pageSize: number): AsyncGenerator<StoredRow> {
  let page = await readStoredTokens(db, [], pageSize);
  while (page.length > 0) {
    yield* page;
    page = await readStoredTokens(db, page.at(-1)!.next, pageSize);
  }
}
