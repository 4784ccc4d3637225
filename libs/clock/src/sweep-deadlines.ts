import type { Sql } from '@secrets/db';
import { type DeadlineTable, pageSize, pullBack, readPage } from './deadlines.ts';

/**
 * Sets every time that lies ahead, in pages, until `isStopping`. Returns in how many rows. Rows that another transaction has
 * locked follow one by one: who waits for one row and holds no other causes no deadlock.
 */
export async function sweepDeadlines(
  sql: Sql,
  tables: readonly DeadlineTable[],
  isStopping: () => boolean = () => false,
): Promise<number> {
  let changed = 0;
  for (const table of tables)
    for await (const keys of keysAhead(sql, table)) {
      changed += await pullAllBack(sql, table, keys);
      if (isStopping()) return changed;
    }
  return changed;
}

/** For each page of a table, the keys of the rows with times that lie ahead. */
async function* keysAhead(sql: Sql, table: DeadlineTable): AsyncGenerator<string[]> {
  let after: string | undefined;
  do {
    const page = await readPage(sql, table, after);
    yield page.flatMap(({ key, isAhead }) => (isAhead ? [key] : []));
    after = page.length === pageSize ? page.at(-1)?.key : undefined;
  } while (after !== undefined);
}

async function pullAllBack(sql: Sql, table: DeadlineTable, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const changed = new Set(await pullBack(sql, table, keys, { skipLocked: true }));
  for (const key of keys.filter((one) => !changed.has(one)))
    for (const one of await pullBack(sql, table, [key], { skipLocked: false })) changed.add(one);
  return changed.size;
}
