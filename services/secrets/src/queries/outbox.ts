import type { Sql } from '@secrets/db';

export interface OutboxRow {
  id: number;
  secretId: string;
}

/** The next changes to tell of, held for 5 seconds; what is not removed by then comes due again. */
export const takeOutbox = (sql: Sql, limit: number): Promise<OutboxRow[]> =>
  sql.query<OutboxRow>(
    `update secrets.outbox set due_at = now() + interval '5 seconds'
     where id in (
       select id from secrets.outbox where due_at <= now() order by due_at, id limit $1 for update skip locked
     )
     returning id, secret_id as "secretId"`,
    [limit],
  );

export async function removeFromOutbox(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql.query('delete from secrets.outbox where id = any ($1::bigint[])', [ids]);
}

/** What could not be published is due at once. */
export async function putBackToOutbox(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql.query('update secrets.outbox set due_at = now() where id = any ($1::bigint[])', [ids]);
}
