import { isForeignKeyViolation, type Sql } from '@secrets/db';

/** The IDs of up to 100 disabled mounts, the oldest first. */
export async function listDisabledMounts(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from secrets.mounts where disabled_at is not null order by disabled_at limit 100',
  );
  return rows.map(({ id }) => id);
}

/** Returns how many external secrets the first associations of a mount have, counted up to `limit`. */
export async function countExternalSecrets(sql: Sql, mountId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>('select sync.external_secrets_of($1, $2) as count', [
    mountId,
    limit,
  ]);
  return row?.count ?? 0;
}

/** Queues events for one page of watched secrets under a disabled mount. Returns their number. */
export async function enqueueWatched(sql: Sql, mountId: string, limit: number): Promise<number> {
  const queued = await sql.query(
    `with page as (
       select id from secrets.secrets where mount_id = $1 and watched limit $2 for no key update skip locked
     ),
     unwatched as (
       update secrets.secrets set watched = false where id = any(array(select id from page)) returning id
     )
     insert into secrets.outbox (secret_id) select id from unwatched returning id`,
    [mountId, limit],
  );
  return queued.length;
}

/** Deletes one page of a disabled mount's secrets with their versions. Returns the numbers of secrets and of queued events. */
export async function purgeSecrets(
  sql: Sql,
  mountId: string,
  limit: number,
): Promise<{ purged: number; eventsQueued: number }> {
  const [counts] = await sql.query<{ purged: number; eventsQueued: number }>(
    `with page as (
       select id from secrets.secrets where mount_id = $1 order by path limit $2 for update skip locked
     ),
     deleted as (
       delete from secrets.secrets where id = any(array(select id from page)) returning id, watched
     ),
     events as (
       insert into secrets.outbox (secret_id) select id from deleted where watched returning id
     )
     select (select count(*)::int from deleted) as purged, (select count(*)::int from events) as "eventsQueued"`,
    [mountId, limit],
  );
  return counts!;
}

/** Deletes a disabled mount, unless it still contains a secret, such as one that was being written during the purge. */
export async function deleteMount(sql: Sql, mountId: string): Promise<void> {
  try {
    await sql.query(
      `delete from secrets.mounts
       where id = $1 and disabled_at is not null
         and (select id from secrets.secrets where mount_id = $1 order by path limit 1) is null`,
      [mountId],
    );
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
  }
}
