import { generatedName } from '@secrets/access';
import type { PageRange, Sql, Tx } from '@secrets/db';
import { type AliasRow, byCondition, type IdOrName, mountOf } from './groups.ts';

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
  /** One at most. */
  aliases: AliasRow[];
  /** The groups that it belongs to. */
  groupIds: string[];
}

/** Before the IDs of all entities. */
export const nilId = '00000000-0000-0000-0000-000000000000';

// The entities of a disabled mount remain for a while. Nothing shows them.
const aliases = `(select coalesce(jsonb_agg(jsonb_build_object('id', a.entity_id, 'name', coalesce(a.given_name, a.name), 'mountAccessor', m.accessor, 'mountPath', m.path,
    'mountType', coalesce(m.named_type, m.type), 'customMetadata', a.custom_metadata)), '[]') from login.entity_aliases a ${mountOf('a')} where a.entity_id = e.id)`;
const groupIds = `array(select ga.group_id::text from login.entity_aliases a
    cross join lateral (select group_id from login.group_aliases where mount_id = a.mount_id and name = any(a.groups) offset 0) ga where a.entity_id = e.id order by 1)`;
const hasAlias = `(select m.id from login.entity_aliases a ${mountOf('a')} where a.entity_id = e.id limit 1) is not null`;
// The entities of a disabled mount remain for a while, with their aliases. Nothing shows them.
const wasOfMount =
  '(select a.entity_id from login.entity_aliases a where a.entity_id = e.id limit 1) is not null';
const selectEntities = `select e.id, e.namespace_id as "namespaceId", coalesce(e.name, '${generatedName}' || e.id) as name, e.policies, e.metadata,
    e.disabled, e.created_at as "createdAt", e.updated_at as "updatedAt", ${aliases} as aliases, ${groupIds} as "groupIds"
  from login.entities e
  where e.namespace_id = $1 and (${hasAlias} or not ${wasOfMount})`;

/**
 * Entities by their ID, or by the name that was chosen for them: one, unless an earlier version accepted the name in
 * several letter cases.
 */
export const findEntities = (sql: Sql, namespaceId: string, by: IdOrName): Promise<EntityRow[]> =>
  readEntities(sql, namespaceId, by, '');

/** The same, and keeps them from being changed before the transaction ends. */
export const lockEntities = (tx: Tx, namespaceId: string, by: IdOrName): Promise<EntityRow[]> =>
  readEntities(tx, namespaceId, by, 'for no key update of e');

async function readEntities(
  sql: Sql,
  namespaceId: string,
  by: IdOrName,
  locking: string,
): Promise<EntityRow[]> {
  const [condition, value] = byCondition('e', by);
  return sql.query<EntityRow>(`${selectEntities} and ${condition} ${locking}`, [namespaceId, value]);
}

/** Up to `limit` entities that have an alias after one, in the order of their IDs. */
export async function listAliasedEntities(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<EntityRow[]> {
  const text = `${selectEntities} and ${hasAlias} and e.id > $2::uuid order by e.id limit $3`;
  return sql.query(text, [namespaceId, after, limit]);
}

/** Up to `limit` entities after one, in the order of their IDs. */
export async function listEntities(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<EntityRow[]> {
  const text = `${selectEntities} and e.id > $2::uuid order by e.id limit $3`;
  return sql.query(text, [namespaceId, after, limit]);
}

/**
 * Up to `limit` entities: those with a chosen name, in the order of the bytes of their names, and then the others in
 * that of their IDs.
 */
export async function listEntitiesByName(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange<IdOrName | undefined>,
): Promise<EntityRow[]> {
  const name = after === undefined ? '' : 'name' in after ? after.name : undefined;
  const named =
    name === undefined
      ? []
      : await sql.query<EntityRow>(`${selectEntities} and e.name > $2 order by e.name limit $3`, [
          namespaceId,
          name,
          limit,
        ]);
  if (named.length === limit) return named;
  const text = `${selectEntities} and e.name is null and e.id > $2::uuid order by e.id limit $3`;
  const id = after !== undefined && 'id' in after ? after.id : nilId;
  return [...named, ...(await sql.query<EntityRow>(text, [namespaceId, id, limit - named.length]))];
}

/** The ID of the entity that has an alias. */
export async function findEntityIdOfAlias(
  sql: Sql,
  mountId: string,
  name: string,
): Promise<string | undefined> {
  const text =
    'select entity_id as id from login.entity_aliases where mount_id = $1 and name = lower($2::text)';
  return (await sql.query<{ id: string }>(text, [mountId, name]))[0]?.id;
}

/** The settings of an entity that can be changed. The name is null until one is chosen. */
export interface EntitySettings extends Pick<EntityRow, 'policies' | 'metadata' | 'disabled'> {
  name: string | null;
}

export async function updateEntity(sql: Sql, id: string, entity: EntitySettings): Promise<void> {
  await sql.query(
    `update login.entities set name = $2, policies = $3::text[], metadata = $4::jsonb, disabled = $5, updated_at = now() where id = $1::uuid`,
    [id, entity.name, entity.policies, JSON.stringify(entity.metadata), entity.disabled],
  );
}

/** Creates an entity without an alias, and returns its ID. Undefined if its namespace does not exist. */
export async function insertEntity(
  sql: Sql,
  namespaceId: string,
  entity: EntitySettings,
): Promise<string | undefined> {
  const rows = await sql.query<{ id: string }>(
    `insert into login.entities (namespace_id, name, policies, metadata, disabled)
     select n.id, $2::text, $3::text[], $4::jsonb, $5::boolean from login.namespaces n where n.id = $1 for key share returning id`,
    [namespaceId, entity.name, entity.policies, JSON.stringify(entity.metadata), entity.disabled],
  );
  return rows[0]?.id;
}

/** The fields of an alias that a request sets. */
interface AliasSettings {
  name: string;
  customMetadata: Readonly<Record<string, string>>;
}

/** Adds an alias to an entity. Returns false if the mount was disabled. */
export async function insertEntityAlias(
  sql: Sql,
  entityId: string,
  { mountId, name, customMetadata }: AliasSettings & { mountId: string },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into login.entity_aliases (mount_id, name, entity_id, custom_metadata)
     select m.id, $2::text, $3::uuid, $4::jsonb from login.auth_mounts m where m.id = $1::uuid for key share returning 1`,
    [mountId, name, entityId, JSON.stringify(customMetadata)],
  );
  return rows.length > 0;
}

/** Changes the metadata of an alias, and the letter case in which it is shown. */
export async function updateEntityAlias(
  sql: Sql,
  entityId: string,
  { name, customMetadata }: AliasSettings,
): Promise<void> {
  await sql.query(
    'update login.entity_aliases set name = $2, custom_metadata = $3::jsonb where entity_id = $1::uuid',
    [entityId, name, JSON.stringify(customMetadata)],
  );
}

/** Returns the entities whose tokens a change of an entity affects: itself, and the one that has its alias in lower case. */
export async function entitiesOfIdentity(sql: Sql, id: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select o.entity_id as id from login.entity_aliases a
     join login.entity_aliases o on o.mount_id = a.mount_id and o.name = lower(a.name)
     where a.entity_id = $1::uuid`,
    [id],
  );
  return [...new Set([id, ...rows.map((row) => row.id)])];
}

/** Up to `limit` aliases of a namespace that differ from another one only in letter case; of all namespaces, if none is given. */
export async function listAliasesInOtherCase(
  sql: Sql,
  namespaceId: string | null,
  limit: number,
): Promise<(Pick<AliasRow, 'name' | 'mountAccessor'> & { entityId: string })[]> {
  return sql.query(
    `select a.name, a.entity_id as "entityId", m.accessor as "mountAccessor"
     from login.entity_aliases a join login.auth_mounts m on m.id = a.mount_id
     where a.name <> lower(a.name) and ($1::text is null or m.namespace_id = $1) order by a.mount_id, lower(a.name) limit $2`,
    [namespaceId, limit],
  );
}

/** Removes the alias of an entity, with the groups that it was in. */
export async function deleteEntityAlias(sql: Sql, entityId: string): Promise<void> {
  await sql.query('delete from login.entity_aliases where entity_id = $1::uuid', [entityId]);
}

/** Deletes an entity with its alias. */
export async function deleteEntity(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from login.entities where id = $1::uuid', [id]);
}
