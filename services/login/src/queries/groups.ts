import type { Sql, Tx } from '@secrets/db';

/** A group, with the alias that says which group of a directory it is. */
export interface GroupRow {
  id: string;
  namespaceId: string;
  name: string;
  policies: string[];
  metadata: Record<string, string>;
  createdAt: Date;
  updatedAt: Date;
  alias: GroupAliasRow | null;
}

export interface GroupAliasRow {
  id: string;
  /** The directory's ID of the group. */
  name: string;
  groupId: string;
  mountAccessor: string;
  mountPath: string;
  mountType: string;
}

const aliasObject = `jsonb_build_object('id', a.id, 'name', a.name, 'groupId', a.group_id, 'mountAccessor', m.accessor,
  'mountPath', m.path, 'mountType', m.type)`;

const selectGroups = `select g.id, g.namespace_id as "namespaceId", g.name, g.policies, g.metadata, g.created_at as "createdAt",
    g.updated_at as "updatedAt",
    (select ${aliasObject} from login.group_aliases a join login.auth_mounts m on m.id = a.mount_id where a.group_id = g.id) as alias
  from login.groups g`;

/** How a group or an entity is named in a path. */
export type By = { id: string } | { name: string };

/** A group by its ID or its name. */
export const findGroup = (sql: Sql, namespaceId: string, by: By): Promise<GroupRow | undefined> =>
  readGroup(sql, namespaceId, by, '');

/** The same, and keeps it from being changed before the transaction ends. */
export const lockGroup = (tx: Tx, namespaceId: string, by: By): Promise<GroupRow | undefined> =>
  readGroup(tx, namespaceId, by, 'for no key update of g');

async function readGroup(
  sql: Sql,
  namespaceId: string,
  by: By,
  locking: string,
): Promise<GroupRow | undefined> {
  const [column, value] = 'id' in by ? ['id = $2::uuid', by.id] : ['name = $2', by.name];
  const text = `${selectGroups} where g.namespace_id = $1 and g.${column} ${locking}`;
  return (await sql.query<GroupRow>(text, [namespaceId, value]))[0];
}

/** Up to `limit` groups after one, in the order of their IDs or the bytes of their names. */
export async function listGroups(
  sql: Sql,
  namespaceId: string,
  by: 'id' | 'name',
  { after, limit }: { after: string; limit: number },
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

const selectAliases = `select a.id, a.name, a.group_id as "groupId", m.accessor as "mountAccessor", m.path as "mountPath",
    m.type as "mountType"
  from login.group_aliases a join login.groups g on g.id = a.group_id join login.auth_mounts m on m.id = a.mount_id`;

export async function findGroupAlias(
  sql: Sql,
  namespaceId: string,
  id: string,
): Promise<GroupAliasRow | undefined> {
  const text = `${selectAliases} where a.id = $2::uuid and g.namespace_id = $1`;
  return (await sql.query<GroupAliasRow>(text, [namespaceId, id]))[0];
}

/** The alias of a group of a mount's directory. */
export async function findGroupAliasOf(
  sql: Sql,
  mountId: string,
  name: string,
): Promise<GroupAliasRow | undefined> {
  const text = `${selectAliases} where a.mount_id = $1::uuid and a.name = $2`;
  return (await sql.query<GroupAliasRow>(text, [mountId, name]))[0];
}

/** Up to `limit` aliases of groups after one, in the order of their IDs. */
export async function listGroupAliases(
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<GroupAliasRow[]> {
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
