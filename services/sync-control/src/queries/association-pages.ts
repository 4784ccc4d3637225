import type { Sql } from '@secrets/db';
import { type AssociationRow, associationColumns } from './associations.ts';

/** The position before the first association. */
export const beforeFirst = '00000000-0000-0000-0000-000000000000';

/** Returns associations of a destination by ID, after the given one. */
export const associationsOf = (
  sql: Sql,
  destinationId: string,
  after: string,
  limit: number,
): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a where destination_id = $1 and id > $2 order by id limit $3`,
    [destinationId, after, limit],
  );

/** Returns associations of a destination that are not being removed yet, and locks their rows. */
export const lockSomeToRemove = (sql: Sql, destinationId: string, limit: number): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a where destination_id = $1 and not removing limit $2 for update`,
    [destinationId, limit],
  );

/** Returns associations of all destinations by ID, after the given one, with the revision they were planned from. */
export const plannedRevisions = (
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ id: string; secretId: string; plannedRevision: number }[]> =>
  sql.query(
    `select id, secret_id as "secretId", planned_revision as "plannedRevision" from sync.associations
      where id > $1 order by id limit $2`,
    [after, limit],
  );
