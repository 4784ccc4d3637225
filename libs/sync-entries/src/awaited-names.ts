import type { PageRange, Sql } from '@secrets/db';

/** An association with keys that wait for names. */
export interface AwaitingAssociation {
  id: string;
  secretId: string;
  /** Whether one of the names is free now. */
  isFree: boolean;
}

/** Returns associations of all destinations by ID, after the given one, that wait for names. */
export const listAwaitingNames = (sql: Sql, { after, limit }: PageRange): Promise<AwaitingAssociation[]> =>
  sql.query(
    `select id, secret_id as "secretId",
            exists (select from unnest(awaited_names) as awaited (name)
                     where not exists (select from sync.entries e
                                        where e.destination_id = a.destination_id and e.collision_key = awaited.name)) as "isFree"
       from (select id, secret_id, destination_id, awaited_names from sync.associations
              where awaited_names <> '{}' and id > $1 order by id limit $2) as a
      order by id`,
    [after, limit],
  );
