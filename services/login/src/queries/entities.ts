import { generatedName } from '@secrets/access';
import type { Sql, Tx } from '@secrets/db';
import type { By } from './groups.ts';

/** An entity: the identity that owns tokens. */
export interface EntityRow {
  id: string;
  namespaceId: string;
  name: string;
  policies: string[];
  metadata: Record<string, string>;
  disabled: boolean;
  createdAt: Date;
  updatedAt: Date;
  aliases: EntityAliasRow[];
  /** The groups that it belongs to. */
  groupIds: string[];
}

/** The name that a login gave an entity. An entity has one alias, which has the ID of the entity. */
export interface EntityAliasRow {
  id: string;
  /** The mount's name for the identity. */
  name: string;
  mountAccessor: string;
  mountPath: string;
  mountType: string;
}

// The entities of a disabled mount remain for a while. Nothing shows them.
const aliases = `(select jsonb_agg(jsonb_build_object('id', a.entity_id, 'name', a.name, 'mountAccessor', m.accessor, 'mountPath', m.path,
    'mountType', m.type)) from login.entity_aliases a join login.auth_mounts m on m.id = a.mount_id where a.entity_id = e.id)`;
const groupIds = `array(select ga.group_id::text from login.entity_aliases a
    join login.group_aliases ga on ga.mount_id = a.mount_id and ga.name = any(a.groups) where a.entity_id = e.id order by 1)`;
const selectEntities = `select e.id, e.namespace_id as "namespaceId", coalesce(e.name, '${generatedName}' || e.id) as name, e.policies, e.metadata,
    e.disabled, e.created_at as "createdAt", e.updated_at as "updatedAt", ${aliases} as aliases, ${groupIds} as "groupIds"
  from login.entities e
  where e.namespace_id = $1 and (
    select m.id from login.entity_aliases a join login.auth_mounts m on m.id = a.mount_id where a.entity_id = e.id limit 1
  ) is not null`;

/** An entity by its ID, or by the name that was chosen for it. */
export const findEntity = (sql: Sql, namespaceId: string, by: By): Promise<EntityRow | undefined> =>
  readEntity(sql, namespaceId, by, '');

/** The same, and keeps it from being changed before the transaction ends. */
export const lockEntity = (tx: Tx, namespaceId: string, by: By): Promise<EntityRow | undefined> =>
  readEntity(tx, namespaceId, by, 'for no key update of e');

async function readEntity(
  sql: Sql,
  namespaceId: string,
  by: By,
  locking: string,
): Promise<EntityRow | undefined> {
  const [condition, value] = 'id' in by ? ['e.id = $2::uuid', by.id] : ['e.name = $2', by.name];
  const text = `${selectEntities} and ${condition} ${locking}`;
  return (await sql.query<EntityRow>(text, [namespaceId, value]))[0];
}

/** Up to `limit` entities after one, in the order of their IDs. */
export async function listEntities(
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<EntityRow[]> {
  const text = `${selectEntities} and e.id > $2::uuid order by e.id limit $3`;
  return sql.query(text, [namespaceId, after, limit]);
}

/** What can be changed about an entity. The name is null until one is chosen. */
export interface EntitySettings extends Pick<EntityRow, 'policies' | 'metadata' | 'disabled'> {
  name: string | null;
}

export async function updateEntity(sql: Sql, id: string, entity: EntitySettings): Promise<void> {
  await sql.query(
    `update login.entities set name = $2, policies = $3::text[], metadata = $4::jsonb, disabled = $5, updated_at = now() where id = $1::uuid`,
    [id, entity.name, entity.policies, JSON.stringify(entity.metadata), entity.disabled],
  );
}

/** Deletes an entity with its alias. */
export async function deleteEntity(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from login.entities where id = $1::uuid', [id]);
}
