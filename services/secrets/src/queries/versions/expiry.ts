import type { Sql } from '@secrets/db';
import { nextRevision } from '../next-revision.ts';

export interface ExpiredCounts {
  versions: number;
  eventsQueued: number;
}

// Locks the secret before its versions, as every writer does, and skips secrets that are being written until the next sweep.
// Versions are found again by their place in the table: for a join, Postgres would read the whole table. One that has changed
// in the meantime is left to the next sweep.
const statement = `
  with due as (
    select v.ctid as place, v.secret_id, s.watched
    from secrets.versions v
    join secrets.secrets s on s.id = v.secret_id
    where v.expires_at <= now()
    order by v.expires_at
    limit $1
    for no key update of s skip locked
  ),
  recorded as (
    update secrets.versions set expires_at = null where ctid = any(array(select place from due)) returning version
  ),
  revised as (
    update secrets.secrets s set revision = ${nextRevision}
    where s.id = any(array(select secret_id from due))
  ),
  events as (
    insert into secrets.outbox (secret_id) select distinct secret_id from due where watched returning id
  )
  select (select count(*)::int from recorded) as versions, (select count(*)::int from events) as "eventsQueued"`;

/** Records that versions have expired, and queues events for watched secrets. */
export async function recordExpired(sql: Sql, limit: number): Promise<ExpiredCounts> {
  const [counts] = await sql.query<ExpiredCounts>(statement, [limit]);
  return counts!;
}
