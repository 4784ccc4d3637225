import type { Sql } from '@secrets/db';

/** A link between a destination and a secret. */
export interface AssociationRow {
  id: string;
  destinationId: string;
  namespaceId: string;
  mount: string;
  accessor: string;
  secretId: string;
  secretName: string;
  plannedRevision: number;
  removing: boolean;
  unnamedKeys: UnnamedKey[];
  updatedAt: Date;
}

/** A key of the secret that came with a change and cannot be synced, and why: a sentence of ours. */
export interface UnnamedKey {
  key: string;
  reason: string;
}

const columns = `a.id, a.destination_id as "destinationId", a.namespace_id as "namespaceId", a.mount, a.accessor,
  a.secret_id as "secretId", a.secret_name as "secretName", a.planned_revision as "plannedRevision", a.removing,
  a.unnamed_keys as "unnamedKeys", a.updated_at as "updatedAt"`;

/** Makes the association, or takes the one that is there back to life; its row is held until the transaction ends. */
export async function upsertAssociation(
  sql: Sql,
  row: {
    destinationId: string;
    namespaceId: string;
    mountId: string;
    mount: string;
    accessor: string;
    secretId: string;
    secretName: string;
    revision: number;
  },
): Promise<AssociationRow> {
  const [association] = await sql.query<AssociationRow>(
    `insert into sync.associations as a
       (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (destination_id, accessor, secret_name) do update
       set secret_id = excluded.secret_id, removing = false, unnamed_keys = default, updated_at = now(),
           planned_revision = case when a.secret_id = excluded.secret_id
             then greatest(a.planned_revision, excluded.planned_revision) else excluded.planned_revision end
     returning ${columns}`,
    [
      row.destinationId,
      row.namespaceId,
      row.mountId,
      row.mount,
      row.accessor,
      row.secretId,
      row.secretName,
      row.revision,
    ],
  );
  return association!;
}

/** The association of a secret by its mount's name, held until the transaction ends. */
export async function lockAssociation(
  sql: Sql,
  destinationId: string,
  mount: string,
  secretName: string,
): Promise<AssociationRow | undefined> {
  const [row] = await sql.query<AssociationRow>(
    `select ${columns} from sync.associations a where destination_id = $1 and mount = $2 and secret_name = $3 for update`,
    [destinationId, mount, secretName],
  );
  return row;
}

export async function findAssociation(sql: Sql, id: string): Promise<AssociationRow | undefined> {
  const [row] = await sql.query<AssociationRow>(`select ${columns} from sync.associations a where id = $1`, [
    id,
  ]);
  return row;
}

export async function markRemoving(sql: Sql, associationIds: readonly string[]): Promise<void> {
  await sql.query(
    'update sync.associations set removing = true, unnamed_keys = default, updated_at = now() where id = any($1::uuid[])',
    [associationIds],
  );
}

export async function deleteAssociations(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql.query('delete from sync.associations where id = any($1::uuid[])', [ids]);
}

/** Associations of a destination in the order of their ids, after the given one. */
export const associationsOf = (
  sql: Sql,
  destinationId: string,
  after: string,
  limit: number,
): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${columns} from sync.associations a where destination_id = $1 and id > $2 order by id limit $3`,
    [destinationId, after, limit],
  );

/** Those of a destination that are not being removed yet, held until the transaction ends. */
export const lockSomeToRemove = (sql: Sql, destinationId: string, limit: number): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${columns} from sync.associations a where destination_id = $1 and not removing limit $2 for update`,
    [destinationId, limit],
  );

/** How many associations a destination has, counted up to `limit`. */
export async function countAssociations(sql: Sql, destinationId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from (select from sync.associations where destination_id = $1 limit $2) as counted',
    [destinationId, limit],
  );
  return row?.count ?? 0;
}

/** Associations of one secret, held until the transaction ends, with their destination's type and name. */
export const lockAssociationsOfSecret = (
  sql: Sql,
  secretId: string,
): Promise<(AssociationRow & { type: string; name: string; namespacePath: string })[]> =>
  sql.query(
    `select ${columns}, d.type, d.name, d.namespace_path as "namespacePath"
       from sync.associations a join sync.destinations d on d.id = a.destination_id
      where a.secret_id = $1 order by a.id for update of a`,
    [secretId],
  );

/** Notes which revision of the secret an association is planned from, and which keys of that one cannot be synced. */
export async function recordPlan(
  sql: Sql,
  associationId: string,
  revision: number,
  unnamed: readonly UnnamedKey[],
): Promise<void> {
  await sql.query(
    `update sync.associations
        set planned_revision = $2, unnamed_keys = $3::text::json,
            updated_at = case when unnamed_keys::text = $3::text then updated_at else now() end
      where id = $1`,
    [associationId, revision, JSON.stringify(unnamed)],
  );
}

/** Associations of a secret by name, with their destination. */
export const associationsByName = (
  sql: Sql,
  namespaceId: string,
  mount: string,
  secretName: string,
): Promise<(AssociationRow & { type: string; name: string })[]> =>
  sql.query(
    `select ${columns}, d.type, d.name from sync.associations a join sync.destinations d on d.id = a.destination_id
      where a.namespace_id = $1 and a.mount = $2 and a.secret_name = $3 order by d.type, d.name limit 1000`,
    [namespaceId, mount, secretName],
  );

/** Every associated secret of a namespace once, in order, after the given one. */
export const associatedSecrets = (
  sql: Sql,
  namespaceId: string,
  after: { mount: string; secretName: string },
  limit: number,
): Promise<{ mount: string; secretName: string }[]> =>
  sql.query(
    `select distinct mount, secret_name as "secretName" from sync.associations
      where namespace_id = $1 and (mount, secret_name) > ($2, $3) order by mount, secret_name limit $4`,
    [namespaceId, after.mount, after.secretName, limit],
  );

/**
 * How many associations a namespace has, and of how many secrets: of its first `limit` associations, in the order of
 * its list. What it costs does not grow further.
 */
export async function totals(
  sql: Sql,
  namespaceId: string,
  limit: number,
): Promise<{ associations: number; secrets: number }> {
  const [row] = await sql.query<{ associations: number; secrets: number }>(
    `select coalesce(sum(associations), 0)::bigint as associations, count(*) as secrets
       from (select count(*) as associations
               from (select mount, secret_name from sync.associations
                      where namespace_id = $1 order by mount, secret_name limit $2) as counted
              group by mount, secret_name) as of_secrets`,
    [namespaceId, limit],
  );
  return row ?? { associations: 0, secrets: 0 };
}

/** Secrets behind associations, in the order of the associations' ids: what the reconciliation walks through. */
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
