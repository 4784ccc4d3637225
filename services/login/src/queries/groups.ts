import type { PageRange, Sql, Tx } from '@secrets/db';

/** A group, with the alias that says which group of a directory it is. */
export interface GroupRow {
  id: string;
  namespaceId: string;
  name: string;
  policies: string[];
  metadata: Record<string, string>;
  createdAt: Date;
  updatedAt: Date;
  alias: OwnedAlias | null;
}

/** The name of an entity or a group at an auth mount. The alias of an entity has the ID of the entity. */
export interface AliasRow {
  id: string;
  /** The mount's name for the identity, or the directory's ID of the group. */
  name: string;
  mountAccessor: string;
  mountPath: string;
  mountType: string;
  /** Only that of an entity has it. */
  customMetadata?: Record<string, string>;
}

/** An alias, and the ID of the entity or the group that has it. */
export type OwnedAlias = AliasRow & { ownerId: string };

/** SQL of a join with the mount `m` of an alias. One look-up for each alias, also while there are no statistics of the tables. */
export const mountOf = (alias: string): string =>
  `cross join lateral (select * from login.auth_mounts where id = ${alias}.mount_id limit 1) m`;

const aliasObject = `jsonb_build_object('id', a.id, 'name', coalesce(a.given_name, a.name), 'ownerId', a.group_id, 'mountAccessor', m.accessor,
  'mountPath', m.path, 'mountType', coalesce(m.named_type, m.type))`;

const selectGroups = `select g.id, g.namespace_id as "namespaceId", g.name, g.policies, g.metadata, g.created_at as "createdAt",
    g.updated_at as "updatedAt",
    (select ${aliasObject} from login.group_aliases a ${mountOf('a')} where a.group_id = g.id) as alias
  from login.groups g`;

/** The key by which a path names a group or an entity. */
export type IdOrName = { id: string } | { name: string };

/** Groups by their ID or their name: one, unless an earlier version accepted the name in several letter cases. */
export const findGroups = (sql: Sql, namespaceId: string, by: IdOrName): Promise<GroupRow[]> =>
  readGroups(sql, namespaceId, by, '');

/** The same, and keeps them from being changed before the transaction ends. */
export const lockGroups = (tx: Tx, namespaceId: string, by: IdOrName): Promise<GroupRow[]> =>
  readGroups(tx, namespaceId, by, 'for no key update of g');

async function readGroups(sql: Sql, namespaceId: string, by: IdOrName, locking: string): Promise<GroupRow[]> {
  const [condition, value] = byCondition('g', by);
  const text = `${selectGroups} where g.namespace_id = $1 and ${condition} ${locking}`;
  return sql.query<GroupRow>(text, [namespaceId, value]);
}

/** A condition on a row, and the value of its parameter `$2`. Names are compared without regard to letter case. */
export const byCondition = (row: string, by: IdOrName): [condition: string, value: string] =>
  'id' in by
    ? [`${row}.id = $2::uuid`, by.id]
    : [`lower(${row}.name collate "default") = lower($2::text collate "default")`, by.name];

/** Those of some names that several entities or groups have, in different letter cases. */
export async function ambiguousNames(
  sql: Sql,
  table: 'entities' | 'groups',
  namespaceId: string,
  names: readonly string[],
): Promise<string[][]> {
  const rows = await sql.query<{ names: string[] }>(
    `select array_agg(r.name order by r.name) as names from login.${table} r
     where r.namespace_id = $1 and r.name is not null
       and lower(r.name collate "default") = any(array(select lower(name collate "default") from unnest($2::text[]) name))
     group by lower(r.name collate "default") having count(*) > 1`,
    [namespaceId, names],
  );
  return rows.map((row) => row.names);
}

/** Up to `limit` groups after one, in the order of their IDs or the bytes of their names. */
export async function listGroups(
  sql: Sql,
  namespaceId: string,
  by: 'id' | 'name',
  { after, limit }: PageRange,
): Promise<GroupRow[]> {
  const [column, value] = by === 'id' ? ['g.id', '$2::uuid'] : ['g.name', '$2'];
  const text = `${selectGroups} where g.namespace_id = $1 and ${column} > ${value} order by ${column} limit $3`;
  return sql.query(text, [namespaceId, after, limit]);
}

export type GroupSettings = Pick<GroupRow, 'name' | 'policies' | 'metadata'>;

/** Creates a group and returns its ID. */
export async function insertGroup(sql: Sql, namespaceId: string, group: GroupSettings): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    `insert into login.groups (namespace_id, name, policies, metadata) values ($1, $2, $3::text[], $4::jsonb) returning id`,
    [namespaceId, group.name, group.policies, JSON.stringify(group.metadata)],
  );
  return row!.id;
}

export async function updateGroup(sql: Sql, id: string, group: GroupSettings): Promise<void> {
  await sql.query(
    `update login.groups set name = $2, policies = $3::text[], metadata = $4::jsonb, updated_at = now() where id = $1::uuid`,
    [id, group.name, group.policies, JSON.stringify(group.metadata)],
  );
}

/** Deletes a group with its alias. */
export async function deleteGroup(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from login.groups where id = $1::uuid', [id]);
}

const selectAliases = `select a.id, coalesce(a.given_name, a.name) as name, a.group_id as "ownerId", m.accessor as "mountAccessor", m.path as "mountPath",
    coalesce(m.named_type, m.type) as "mountType"
  from login.group_aliases a
    cross join lateral (select namespace_id from login.groups where id = a.group_id limit 1) g ${mountOf('a')}`;

export async function findGroupAlias(
  sql: Sql,
  namespaceId: string,
  id: string,
): Promise<OwnedAlias | undefined> {
  const text = `${selectAliases} where a.id = $2::uuid and g.namespace_id = $1`;
  return (await sql.query<OwnedAlias>(text, [namespaceId, id]))[0];
}

/** The alias of a group of a mount's directory. */
export async function findGroupAliasOf(
  sql: Sql,
  mountId: string,
  name: string,
): Promise<OwnedAlias | undefined> {
  const text = `${selectAliases} where a.mount_id = $1::uuid and a.name = lower($2::text)`;
  return (await sql.query<OwnedAlias>(text, [mountId, name]))[0];
}

/** Up to `limit` aliases of groups after one, in the order of their IDs. */
export async function listGroupAliases(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<OwnedAlias[]> {
  const text = `${selectAliases} where g.namespace_id = $1 and a.id > $2::uuid order by a.id limit $3`;
  return sql.query(text, [namespaceId, after, limit]);
}

interface GroupAliasSettings {
  name: string;
  mountId: string;
  groupId: string;
}

/** Creates an alias and returns its ID. */
export async function insertGroupAlias(
  sql: Sql,
  { name, mountId, groupId }: GroupAliasSettings,
): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    'insert into login.group_aliases (name, mount_id, group_id) values ($1, $2::uuid, $3::uuid) returning id',
    [name, mountId, groupId],
  );
  return row!.id;
}

export async function updateGroupAlias(
  sql: Sql,
  id: string,
  { name, mountId, groupId }: GroupAliasSettings,
): Promise<void> {
  await sql.query(
    'update login.group_aliases set name = $2, mount_id = $3::uuid, group_id = $4::uuid, updated_at = now() where id = $1::uuid',
    [id, name, mountId, groupId],
  );
}

export async function deleteGroupAlias(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from login.group_aliases where id = $1::uuid', [id]);
}
