import type { Sql } from '@secrets/db';

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether all of these are IDs of destinations of this installation that were deleted. Texts that are no IDs are not. */
export async function areDeletedDestinations(sql: Sql, ids: readonly string[]): Promise<boolean> {
  if (!ids.every((id) => uuid.test(id))) return false;
  const rows = await sql.query('select id from sync.deleted_destinations where id = any($1::uuid[])', [ids]);
  return rows.length === new Set(ids).size;
}
