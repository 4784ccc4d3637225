import type { Sql } from '@secrets/db';

/** Returns which of these entries another transaction has locked at this moment. */
export async function lockedEntries(sql: Sql, entryIds: readonly string[]): Promise<Set<string>> {
  // `for share` is the weakest lock that every update of a row excludes.
  const rows = await sql.query<{ id: string }>(
    `select id from sync.entries
      where id = any($1::uuid[])
        and id <> all(array(select id from sync.entries where id = any($1::uuid[]) for share skip locked))`,
    [entryIds],
  );
  return new Set(rows.map(({ id }) => id));
}
