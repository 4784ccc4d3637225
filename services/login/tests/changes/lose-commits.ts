import type { Db } from '@secrets/db';

/**
 * Runs `work`, and then puts every row of login back: what a failover does to what it commits, if the standby does not
 * have it yet. The triggers do not run, as if the rows had never changed.
 */
export async function loseCommits<T>(db: Db, work: () => Promise<T>): Promise<T> {
  const tables = await db.query<{ name: string; columns: string }>(
    `select format('login.%I', c.table_name) as name, string_agg(format('%I', c.column_name), ', ') as columns
       from information_schema.columns c
       join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
      where c.table_schema = 'login' and c.is_generated = 'NEVER' and c.table_name <> 'schema_version' group by c.table_name`,
  );
  const kept = new Map<string, unknown[]>();
  for (const { name, columns } of tables)
    kept.set(
      name,
      await db.query(`select row_to_json(r)::text as row from (select ${columns} from ${name}) r`),
    );
  const result = await work();
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const { name, columns } of tables) {
      await tx.query(`delete from ${name}`);
      await tx.query(
        `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, $1::json)`,
        [`[${(kept.get(name) as { row: string }[]).map(({ row }) => row).join()}]`],
      );
    }
  });
  return result;
}
