import type { Sql } from '@secrets/db';

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether all of these are IDs of destinations of this installation that were deleted. Texts that are no IDs are not. */
export async function areDeletedDestinations(sql: Sql, ids: readonly string[]): Promise<boolean> {
  if (!ids.every((id) => uuid.test(id))) return false;
  const rows = await sql.query('select id from sync.deleted_destinations where id = any($1::uuid[])', [ids]);
  return rows.length === new Set(ids).size;
}

/** The time for which what a deleted destination has left behind can be taken over. */
const rememberedDays = 730;

/** Forgets destinations that were deleted two years ago, at most `limit`, and returns how many. */
export async function forgetDeletedDestinations(sql: Sql, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from sync.deleted_destinations
      where id = any(array(
        select id from sync.deleted_destinations where deleted_at < now() - $1 * interval '1 day'
         order by deleted_at limit $2 for update skip locked))
      returning id`,
    [rememberedDays, limit],
  );
  return rows.length;
}
