import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';

/** An external secret, by the destination of its entry and the name as the destination compares it. */
export interface EntryName {
  destinationId: string;
  collisionKey: string;
}

/** State of an external secret that the last put of its entry has stored. */
export interface RememberedRemote extends EntryName {
  remote: Json;
}

/** Returns what entries remember of these external secrets; those of which nothing is remembered are left out. */
export const readRemembered = (sql: Sql, names: readonly EntryName[]): Promise<RememberedRemote[]> =>
  sql.query<RememberedRemote>(
    `select destination_id as "destinationId", collision_key as "collisionKey", remote
       from unnest($1::uuid[], $2::text[]) as wanted (id, name) cross join lateral (
       select e.destination_id, e.collision_key, e.remote from sync.entries e
        where e.destination_id = wanted.id and e.collision_key = wanted.name and e.remote is not null limit 1) as found`,
    [names.map(({ destinationId }) => destinationId), names.map(({ collisionKey }) => collisionKey)],
  );
