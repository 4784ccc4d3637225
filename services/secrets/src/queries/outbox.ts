import type { Sql } from '@secrets/db';

export interface OutboxRow {
  id: number;
  secretId: string;
  traceparent: string | null;
}

/** Claims the oldest due events for 5 seconds; those not deleted by then become due again. */
export const claimOutbox = (sql: Sql, limit: number): Promise<OutboxRow[]> =>
  sql.query<OutboxRow>(
    `update secrets.outbox set due_at = now() + interval '5 seconds'
     where id = any(array(
       select id from secrets.outbox where due_at <= now() order by due_at, id limit $1 for update skip locked
     ))
     returning id, secret_id as "secretId", traceparent`,
    [limit],
  );

export async function deleteOutbox(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql.query('delete from secrets.outbox where id = any ($1::bigint[])', [ids]);
}

/** Makes events due immediately that could not be published. */
export async function releaseOutbox(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql.query('update secrets.outbox set due_at = now() where id = any ($1::bigint[])', [ids]);
}
