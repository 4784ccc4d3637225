import type { PageRange, Sql } from '@secrets/db';
import {
  type AssociationRow,
  associationColumns,
  type NamingScheme,
  ofExistingDestination,
  type UnnamedKey,
} from './associations.ts';

/** An association with its destination. */
export type FollowedAssociation = AssociationRow & {
  type: string;
  name: string;
  namespacePath: string;
};

/** An association that follows its secret, with what holds it. */
export type LockedAssociation = FollowedAssociation & { byHand: boolean };

export async function listAssociationIdsOfSecret(sql: Sql, secretId: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from sync.associations where secret_id = $1 order by id',
    [secretId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns an association of a secret with its destination, and locks the row of the association. Returns undefined if it no
 * longer exists or its destination was deleted by force.
 */
export async function lockFollowed(
  sql: Sql,
  id: string,
  secretId: string,
): Promise<LockedAssociation | undefined> {
  const [row] = await sql.query<LockedAssociation>(
    `select ${associationColumns}, a.by_hand as "byHand", d.type, d.name, d.namespace_path as "namespacePath"
       from sync.associations a join sync.destinations d on d.id = a.destination_id and d.deleted_at is null
      where a.id = $1 and a.secret_id = $2 for update of a`,
    [id, secretId],
  );
  return row;
}

/**
 * Whether an association, whose row is locked, was planned from a revision of its secret that does not exist: it was
 * lost with commits, after it had been read.
 */
export async function isPlanLost(sql: Sql, associationId: string): Promise<boolean> {
  const rows = await sql.query(
    // The limit forces a lookup of the one secret.
    `select from sync.associations a cross join lateral (
       select revision from sync.secret_revisions where secret_id = a.secret_id limit 1) as current
      where a.id = $1 and a.planned_revision > current.revision`,
    [associationId],
  );
  return rows.length === 1;
}

/**
 * Records the revision of the secret that an association is planned from, the keys that cannot be synced, and the names that some
 * of them wait for, as collision keys.
 */
export async function recordPlan(
  sql: Sql,
  associationId: string,
  revision: number,
  unnamed: readonly UnnamedKey[],
  awaitedNames: readonly string[] = [],
): Promise<void> {
  await sql.query(
    `update sync.associations
        set planned_revision = $2, unnamed_keys = $3::text::json, awaited_names = $4,
            updated_at = case when unnamed_keys::text = $3::text then updated_at else now() end
      where id = $1`,
    [associationId, revision, JSON.stringify(unnamed), awaitedNames],
  );
}

/** Records the naming scheme that an association was planned with. */
export async function recordNamingScheme(
  sql: Sql,
  associationId: string,
  { template, granularity }: NamingScheme,
): Promise<void> {
  await sql.query(
    `update sync.associations set template = $2, granularity = $3
      where id = $1 and (template, granularity) is distinct from ($2, $3)`,
    [associationId, template, granularity],
  );
}

export interface AssociatedSecretRow {
  mount: string;
  secretName: string;
}

/**
 * Returns the association of a secret, by its name, with each of its destinations, in the order of their IDs, after the
 * given one. If a destination has several, the mount was replaced by one with its name; the one that is not being
 * removed has precedence.
 */
export const listAssociationsByName = (
  sql: Sql,
  namespaceId: string,
  { mount, secretName }: AssociatedSecretRow,
  range: PageRange,
): Promise<(AssociationRow & { type: string; name: string })[]> =>
  sql.query(
    // The limit of the inner subquery forces one lookup for each association.
    `select ${associationColumns}, d.type, d.name
       from (select distinct on (destination_id) * from sync.associations
              where namespace_id = $1 and mount = $2 and secret_name = $3 and destination_id > $4
              order by destination_id, removing, created_at desc) as a
      cross join lateral (
         select type, name from sync.destinations where id = a.destination_id and deleted_at is null limit 1) as d
      order by a.destination_id limit $5`,
    [namespaceId, mount, secretName, range.after, range.limit],
  );

/** SQL: the first associated secret of namespace `$1` after a position. */
const nextSecret = (after: string): string => `(
  select mount, secret_name from sync.associations
   where namespace_id = $1 and (mount, secret_name) > (${after}) and ${ofExistingDestination}
   order by mount, secret_name limit 1) as next`;

// Hops through the index from one secret to the next, however many associations each of them has.
const associatedSecretsStatement = `
  with recursive hop (mount, secret_name, place) as (
    select next.*, 1 from ${nextSecret('$2, $3')}
    union all
    select next.*, place + 1 from hop cross join lateral ${nextSecret('hop.mount, hop.secret_name')} where place < $4::int
  )
  select mount, secret_name as "secretName" from hop order by place`;

/** Returns every associated secret of a namespace once, in order, after the given one. */
export const listAssociatedSecretRows = (
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange<AssociatedSecretRow>,
): Promise<AssociatedSecretRow[]> =>
  sql.query(associatedSecretsStatement, [namespaceId, after.mount, after.secretName, limit]);
