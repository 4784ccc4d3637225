import {
  type ContentTable,
  contentTableNames,
  type RowGuard,
  type RowPosition,
  readContentBoundBy,
  replaceRowHash,
} from '@secrets/access';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';

interface RebindContext {
  db: Db;
  rows: RowGuard;
  rowKeys: KeyRing | undefined;
  isStopping(): boolean;
}

const pageSize = 500;

/**
 * Binds the rows of earlier row keys with the current one, so that the earlier ones can be removed. A row that is not as it was
 * written keeps its hash. Tokens keep theirs, too: they expire.
 */
export async function rebindRows({ rowKeys, ...context }: RebindContext): Promise<void> {
  const earlier = rowKeys?.keys.filter(({ id }) => id !== rowKeys.current.id) ?? [];
  for (const table of contentTableNames) for (const { id } of earlier) await rebindTable(context, table, id);
}

async function rebindTable(
  { db, rows, isStopping }: Omit<RebindContext, 'rowKeys'>,
  table: ContentTable,
  keyId: string,
): Promise<void> {
  const pageAfter = (position: RowPosition) => readContentBoundBy(db, table, keyId, position, pageSize);
  let page = await pageAfter([]);
  while (page.length > 0 && !isStopping()) {
    for (const stored of page)
      if (rows.accepts(stored.row, stored.rowHash))
        await replaceRowHash(db, table, stored, rows.hashOf(stored.row));
    page = await pageAfter(page.at(-1)!.position);
  }
}
