import type { Sql } from '@secrets/db';
import { errorCode } from '@secrets/domain';

const foreignKeyViolation = '23503';

export async function disabledMounts(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from secrets.mounts where disabled_at is not null order by disabled_at limit 100',
  );
  return rows.map(({ id }) => id);
}

/** Queues events for one page of watched secrets under a disabled mount. Returns how many. */
export async function enqueueWatched(sql: Sql, mountId: string, limit: number): Promise<number> {
  const queued = await sql.query(
    `with page as (
       select id from secrets.secrets where mount_id = $1 and watched limit $2 for no key update skip locked
     ),
     noted as (
       update secrets.secrets s set watched = false from page where s.id = page.id returning s.id
     )
     insert into secrets.outbox (secret_id) select id from noted returning id`,
    [mountId, limit],
  );
  return queued.length;
}

/** Deletes one page of a disabled mount's secrets with their versions. Returns how many, and how many events were queued. */
export async function purgeSecrets(
  sql: Sql,
  mountId: string,
  limit: number,
): Promise<{ purged: number; eventsQueued: number }> {
  const [done] = await sql.query<{ purged: number; eventsQueued: number }>(
    `with page as (
       select id from secrets.secrets where mount_id = $1 order by path limit $2 for update skip locked
     ),
     gone as (
       delete from secrets.secrets s using page where s.id = page.id returning s.id, s.watched
     ),
     events as (
       insert into secrets.outbox (secret_id) select id from gone where watched returning id
     )
     select (select count(*)::int from gone) as purged, (select count(*)::int from events) as "eventsQueued"`,
    [mountId, limit],
  );
  return done!;
}

/** Forgets a disabled mount. False while a secret is still under it, such as one that was being written meanwhile. */
export async function forgetMount(sql: Sql, mountId: string): Promise<boolean> {
  try {
    const gone = await sql.query(
      `delete from secrets.mounts
       where id = $1 and disabled_at is not null
         and not exists (select from secrets.secrets where mount_id = $1)
       returning id`,
      [mountId],
    );
    return gone.length > 0;
  } catch (error) {
    if (errorCode(error) === foreignKeyViolation) return false;
    throw error;
  }
}
