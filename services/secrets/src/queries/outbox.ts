import type { Sql } from '@secrets/db';

export interface OutboxRow {
  id: number;
  /**
   * Until when it is claimed, in all its digits: with the ID, which may be used again after commits were lost, it
   * identifies the event.
   */
  claimedUntil: string;
  secretId: string;
  traceparent: string | null;
  /** Whether rules may match the secret since the change. */
  toMatch: boolean;
}

/** Claims the oldest due events for 5 seconds; those not deleted by then become due again. */
export const claimOutbox = (sql: Sql, limit: number): Promise<OutboxRow[]> =>
  sql.query<OutboxRow>(
    `update secrets.outbox set due_at = now() + interval '5 seconds'
     where id = any(array(
       select id from secrets.outbox where due_at <= now() order by due_at, id limit $1 for update skip locked
     ))
     returning id, extract(epoch from due_at)::text as "claimedUntil", secret_id as "secretId", traceparent, to_match as "toMatch"`,
    [limit],
  );

/** Events as they were claimed. */
export type ClaimedEvents = readonly Pick<OutboxRow, 'id' | 'claimedUntil'>[];

const asClaimed = 'id = any($1::bigint[]) and extract(epoch from due_at) = any($2::numeric[])';

const parametersOf = (claimed: ClaimedEvents) => [
  claimed.map(({ id }) => id),
  claimed.map(({ claimedUntil }) => claimedUntil),
];

export async function deleteOutbox(sql: Sql, claimed: ClaimedEvents): Promise<void> {
  await sql.query(`delete from secrets.outbox where ${asClaimed}`, parametersOf(claimed));
}

/** Makes events due immediately that could not be published. */
export async function releaseOutbox(sql: Sql, claimed: ClaimedEvents): Promise<void> {
  await sql.query(`update secrets.outbox set due_at = now() where ${asClaimed}`, parametersOf(claimed));
}
