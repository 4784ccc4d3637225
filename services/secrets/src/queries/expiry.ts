import type { Sql } from '@secrets/db';

export interface ExpiredCounts {
  versions: number;
  eventsQueued: number;
}

// Locks the secret before its versions, as every writer does, and skips secrets that are being written until the next sweep.
const statement = `
  with due as (
    select v.secret_id, v.version, s.watched
    from secrets.versions v
    join secrets.secrets s on s.id = v.secret_id
    where v.expires_at <= now()
    order by v.expires_at
    limit $1
    for no key update of s skip locked
  ),
  recorded as (
    update secrets.versions v set expires_at = null
    from due where v.secret_id = due.secret_id and v.version = due.version
    returning v.version
  ),
  revised as (
    update secrets.secrets s set revision = s.revision + 1
    where s.id in (select secret_id from due)
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
