import type { Sql, Tx } from '@secrets/db';
import type { Naming } from '@secrets/destinations';

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
  /** The template and the granularity that it was last planned by; null if an earlier version planned it. */
  template: string | null;
  granularity: string | null;
  /** The naming of the rule that made it; null for that of the destination. */
  naming: unknown;
  removing: boolean;
  unnamedKeys: UnnamedKey[];
  updatedAt: Date;
}

/** A key that a change added to the secret and that cannot be synced. */
export interface UnnamedKey {
  key: string;
  /** A sentence shown with the association. */
  reason: string;
}

/** The columns of `AssociationRow`, of the table alias `a`. */
export const associationColumns = `a.id, a.destination_id as "destinationId", a.namespace_id as "namespaceId", a.mount, a.accessor,
  a.secret_id as "secretId", a.secret_name as "secretName", a.planned_revision as "plannedRevision", a.template, a.granularity, a.naming, a.removing,
  a.unnamed_keys as "unnamedKeys", a.updated_at as "updatedAt"`;

/** SQL condition: the association does not belong to a destination that was deleted by force. */
export const ofExistingDestination =
  'destination_id <> all (array(select id from sync.destinations where deleted_at is not null))';

/** The template and the granularity that determine the names of an association's external secrets. */
export interface NamingScheme {
  template: string;
  granularity: string;
}

/**
 * Creates the association, or restores the existing one, and locks its row. Holds that it has for this secret stay, and its
 * naming does unless it ends.
 */
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
    shape: NamingScheme;
    naming: Naming | null;
    /** Whether it is held by hand, rather than by a rule. */
    byHand: boolean;
  },
): Promise<AssociationRow> {
  const [association] = await sql.query<AssociationRow>(
    `with of_another as (
       delete from sync.rule_holds where association_id = (
         select id from sync.associations where destination_id = $1 and accessor = $5 and secret_name = $7 and secret_id <> $6))
     insert into sync.associations as a
       (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision, template, granularity, by_hand, naming)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb)
     on conflict (destination_id, accessor, secret_name) do update
       set secret_id = excluded.secret_id, mount = excluded.mount, by_hand = excluded.by_hand or a.by_hand and not a.removing and a.secret_id = excluded.secret_id, removing = false, unnamed_keys = default, awaited_names = default, updated_at = now(),
           source_gone_at = null, source_removals = 0, template = excluded.template, granularity = excluded.granularity,
           naming = case when a.removing or a.source_gone_at is not null then excluded.naming else a.naming end,
           planned_revision = case when a.secret_id = excluded.secret_id
             then greatest(a.planned_revision, excluded.planned_revision) else excluded.planned_revision end
     returning ${associationColumns}`,
    [
      row.destinationId,
      row.namespaceId,
      row.mountId,
      row.mount,
      row.accessor,
      row.secretId,
      row.secretName,
      row.revision,
      row.shape.template,
      row.shape.granularity,
      row.byHand,
      row.naming === null ? null : JSON.stringify(row.naming),
    ],
  );
  return association!;
}

/** An association that exists for a name. */
export interface ExistingAssociation {
  id: string;
  secretName: string;
  secretId: string;
  /** Whether it ends: it is being removed, or its secret is gone. */
  isEnding: boolean;
  naming: unknown;
}

/** Locks the associations of a mount with these names, in the order of their IDs. */
export const lockAssociationsByName = (
  tx: Tx,
  destinationId: string,
  accessor: string,
  secretNames: readonly string[],
): Promise<ExistingAssociation[]> =>
  tx.query<ExistingAssociation>(
    `select id, secret_name as "secretName", secret_id as "secretId", naming, removing or source_gone_at is not null as "isEnding"
       from sync.associations
      where id = any(array(
        select a.id from unnest($3::text[]) as n (name) cross join lateral (
          select id from sync.associations where destination_id = $1 and accessor = $2 and secret_name = n.name limit 1) as a))
      order by id for no key update`,
    [destinationId, accessor, secretNames],
  );

/** The columns that new associations of one mount have in common. */
export interface NewAssociations {
  destinationId: string;
  namespaceId: string;
  mountId: string;
  mount: string;
  accessor: string;
  shape: NamingScheme;
  naming: Naming | null;
  byHand: boolean;
}

/**
 * Creates associations of secrets of one mount, in the order of their names. Returns their IDs by name, without those that have
 * been created by another transaction.
 */
export async function insertAssociations(
  tx: Tx,
  { destinationId, namespaceId, mountId, mount, accessor, shape, naming, byHand }: NewAssociations,
  secrets: readonly { secretId: string; secretName: string; revision: number }[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; secretName: string }>(
    `insert into sync.associations
       (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision, template, granularity, by_hand, naming)
     select $1, $2, $3, $4, $5, s.id, s.name, s.revision, $6, $7, $8, $12::jsonb
       from unnest($9::uuid[], $10::text[], $11::bigint[]) as s (id, name, revision) order by s.name
     on conflict (destination_id, accessor, secret_name) do nothing
     returning id, secret_name as "secretName"`,
    [
      destinationId,
      namespaceId,
      mountId,
      mount,
      accessor,
      shape.template,
      shape.granularity,
      byHand,
      secrets.map(({ secretId }) => secretId),
      secrets.map(({ secretName }) => secretName),
      secrets.map(({ revision }) => revision),
      naming === null ? null : JSON.stringify(naming),
    ],
  );
  return new Map(rows.map(({ id, secretName }) => [secretName, id]));
}

/** SQL of the association of a secret by the name of its mount. */
const ofSecretByName = `select ${associationColumns} from sync.associations a
  where destination_id = $1 and mount = $2 and secret_name = $3
  order by removing, created_at desc limit 1`;

/**
 * Returns the association of a secret by the name of its mount, and locks its row. There may be several: of a mount that was
 * disabled and is being unsynced, and of a new one with its name. The one that is not being removed has precedence.
 */
export async function lockAssociation(
  sql: Sql,
  destinationId: string,
  mount: string,
  secretName: string,
): Promise<AssociationRow | undefined> {
  const values = [destinationId, mount, secretName];
  const [row] = await sql.query<AssociationRow>(`${ofSecretByName} for update`, values);
  return row;
}

/** Returns an association like `lockAssociation`, without locking it. */
export async function findAssociationByMount(
  sql: Sql,
  destinationId: string,
  mount: string,
  secretName: string,
): Promise<AssociationRow | undefined> {
  const [row] = await sql.query<AssociationRow>(ofSecretByName, [destinationId, mount, secretName]);
  return row;
}

/** Returns the association of a secret, whether or not it is being removed. */
export async function findAssociationOfSecret(
  sql: Sql,
  destinationId: string,
  accessor: string,
  secretName: string,
): Promise<AssociationRow | undefined> {
  const [row] = await sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a
      where destination_id = $1 and accessor = $2 and secret_name = $3`,
    [destinationId, accessor, secretName],
  );
  return row;
}

/** Returns an association of a namespace with its destination, which was not deleted by force. */
export async function findAssociationIn(
  sql: Sql,
  namespaceId: string,
  id: string,
): Promise<(AssociationRow & { type: string; name: string }) | undefined> {
  const [row] = await sql.query<AssociationRow & { type: string; name: string }>(
    `select ${associationColumns}, d.type, d.name
       from sync.associations a join sync.destinations d on d.id = a.destination_id and d.deleted_at is null
      where a.id = $1 and a.namespace_id = $2`,
    [id, namespaceId],
  );
  return row;
}

export async function findAssociation(sql: Sql, id: string): Promise<AssociationRow | undefined> {
  const [row] = await sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a where id = $1`,
    [id],
  );
  return row;
}

/** Records that the associations disappear with their last entry. */
export async function markRemoving(sql: Sql, associationIds: readonly string[]): Promise<void> {
  await sql.query(
    `update sync.associations
        set removing = true, unnamed_keys = default, awaited_names = default, source_gone_at = null, source_removals = 0, updated_at = now()
      where id = any($1::uuid[])`,
    [associationIds],
  );
}

export async function deleteAssociations(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql.query('delete from sync.associations where id = any($1::uuid[])', [ids]);
}
