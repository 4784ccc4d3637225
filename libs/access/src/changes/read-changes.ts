import type { Sql } from '@secrets/db';

/** The newest changes. */
export interface NewestChanges {
  /** The number of the newest one. */
  epoch: number;
  /** What each change after a given one concerns, in their order; null if none was made, or too many. */
  concerns: string[][] | null;
}

/** Reading more would take longer than reading again what they concern. */
const maxChanges = 1_000;

// In most cases nothing has changed, and the subquery is not executed.
const newestChanges = `
  select value as epoch, case when value > $1 and value - $1 <= ${maxChanges} then (
    select jsonb_agg(c.concerns order by c.epoch) from login.access_changes c where c.epoch > $1 and c.epoch <= value
  ) end as concerns
  from login.access_epoch`;

/** Reads which changes of access were committed after the one with the number `since`. */
export async function readChanges(sql: Sql, since: number): Promise<NewestChanges> {
  const [row] = await sql.query<NewestChanges>(newestChanges, [since]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return row;
}
