import type pg from 'pg';
import { busyMount, type } from '../scheduling/busy-destination.ts';

/** Number of failed entries of each destination. */
export const failedEntries = 500;

/** The secret of an association. */
export const secretName = (destination: string, at: number): string => `${destination}/app-${at}`;

/**
 * Inserts associations with one synced entry each, of which `failedEntries` have failed. Triggers do not run: they
 * would record an event for each row, which setting the associations over days would not leave behind.
 */
export async function insertAssociations(
  database: pg.Client,
  { destination, count }: { destination: string; count: number },
): Promise<void> {
  await database.query('begin');
  await database.query('set local session_replication_role = replica');
  await database.query('set local synchronous_commit = off');
  await database.query(insert, [type, destination, busyMount, count, Math.ceil(count / failedEntries)]);
  await database.query('commit');
}

const insert = `
  with parent as (
    select d.id, d.namespace_id, m.id as mount_id, m.accessor
      from sync.destinations d, secrets.mounts m
     where d.type = $1 and d.name = $2 and m.path = $3
  ), added as (
    insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
    select id, namespace_id, mount_id, $3, accessor, gen_random_uuid(), $2 || '/app-' || n, 1
      from parent, generate_series(1, $4::int) as n
    returning id, destination_id, secret_name, substring(secret_name from '[0-9]+$')::int as n
  )
  insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key, status, due_at,
      applied_generation, synced_at, next_attempt_at, attempts, fault, last_error)
  select id, destination_id, $1, secret_name, secret_name, case when has_failed then 'CLIENT_SIDE_ERROR' else 'SYNCED' end,
      case when has_failed then now() + interval '1 day' end, case when has_failed then 0 else 1 end, now(),
      case when has_failed then now() + interval '1 day' end, case when has_failed then 3 else 0 end,
      case when has_failed then 'forbidden' end, case when has_failed then 'no permission' end
    from added, lateral (select n % $5::int = 0 as has_failed) as f`;
