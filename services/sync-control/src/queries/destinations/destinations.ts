import type { PageRange, Sql } from '@secrets/db';
import { destinationTypes, type Given, settingsOf } from '@secrets/destinations';
import type { Json } from '@secrets/domain';

/** A stored destination; its secret fields are encrypted. */
export interface DestinationRow {
  id: string;
  namespaceId: string;
  type: string;
  name: string;
  /** With the defaults of fields that the type did not have yet when they were stored. */
  settings: Record<string, Json>;
  /** The settings as the request spelled them; null if not recorded. */
  given: Given | null;
  sealedCredentials: Uint8Array | null;
  /** The provider's ID of the scope; null before the first contact. */
  scopeId: string | null;
  /** Whether IDs of members of the scope are remembered, such as selected repositories. */
  hasScopeMembers: boolean;
  purgeInitiatedAt: Date | null;
  purgeKeeps: boolean;
  purgeError: string | null;
  retryInitiatedAt: Date | null;
  /** Whether the retry includes all failed entries, not only those that wait for the operator. */
  retryAll: boolean;
  pushInitiatedAt: Date | null;
  pushPosition: string;
  replanInitiatedAt: Date | null;
  replanPosition: string;
  /** Number of associations that the current or last replan could not change, and the reason for the last of them. */
  replanRefused: number;
  replanError: string | null;
  /** Why the last page of work in the background failed. */
  backgroundError: string | null;
}

const columns = `id, namespace_id as "namespaceId", type, name, settings, given, sealed_credentials as "sealedCredentials",
  scope_id as "scopeId", scope_members is not null as "hasScopeMembers",
  purge_initiated_at as "purgeInitiatedAt", purge_keeps as "purgeKeeps", purge_error as "purgeError",
  retry_initiated_at as "retryInitiatedAt", retry_all as "retryAll", push_initiated_at as "pushInitiatedAt", push_position as "pushPosition",
  replan_initiated_at as "replanInitiatedAt", replan_position as "replanPosition", replan_refused as "replanRefused",
  replan_error as "replanError", background_error as "backgroundError"`;

export interface DestinationKey {
  namespaceId: string;
  type: string;
  name: string;
}

const keyOf = ({ namespaceId, type, name }: DestinationKey) => [namespaceId, type, name];

export async function findDestination(sql: Sql, key: DestinationKey): Promise<DestinationRow | undefined> {
  const [row] = await sql.query<DestinationRow>(
    `select ${columns} from sync.destinations where namespace_id = $1 and type = $2 and name = $3`,
    keyOf(key),
  );
  return row && readable(row);
}

type StoredSettings = Pick<DestinationRow, 'type' | 'name' | 'settings'>;

/** Parses the settings of a row, unless only a newer version knows its type. Throws what `settingsOf` throws. */
export function readable<Row extends StoredSettings>(row: Row): Row {
  const description = destinationTypes[row.type];
  if (description === undefined) return row;
  return { ...row, settings: { ...settingsOf(description, row.settings, `destination ${row.name}`) } };
}

/** Returns the granularity of a destination; undefined if it no longer exists. */
export async function findGranularity(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql.query<StoredSettings>(
    'select type, name, settings from sync.destinations where id = $1',
    [id],
  );
  return row && String(readable(row).settings.granularity);
}

/**
 * Returns a destination, and locks its row, so that it is not changed, purged or deleted before the transaction ends.
 * Its settings are completed, but not parsed (`readable`): one that cannot be read can still be written and deleted.
 * Not `for update`: following a secret holds an association while the foreign key of its new entries locks the
 * destination, and a set holds the destination while it waits for the association.
 */
export async function lockDestination(sql: Sql, key: DestinationKey): Promise<DestinationRow | undefined> {
  const [row] = await sql.query<DestinationRow>(
    `select ${columns} from sync.destinations where namespace_id = $1 and type = $2 and name = $3 for no key update`,
    keyOf(key),
  );
  return row && { ...row, settings: { ...destinationTypes[row.type]?.defaults, ...row.settings } };
}

export async function insertDestination(
  sql: Sql,
  row: DestinationKey & {
    id: string;
    namespacePath: string;
    settings: Record<string, Json>;
    given: Given;
    sealedCredentials: Uint8Array | null;
    codehostAppId: string | null;
    laneId: string;
  },
): Promise<void> {
  await sql.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, sealed_credentials, codehost_app_id, lane_id,
       given)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10::jsonb)`,
    [
      row.id,
      row.namespaceId,
      row.namespacePath,
      row.type,
      row.name,
      JSON.stringify(row.settings),
      row.sealedCredentials,
      row.codehostAppId,
      row.laneId,
      JSON.stringify(row.given),
    ],
  );
}

/** Updates a destination. The new revision makes the workers close their clients of the older one. */
export async function updateDestination(
  sql: Sql,
  row: Pick<DestinationRow, 'id' | 'settings' | 'given' | 'sealedCredentials'> & {
    codehostAppId: string | null;
    laneId: string;
  },
): Promise<void> {
  await sql.query(
    `update sync.destinations
        set settings = $2::jsonb, sealed_credentials = $3, codehost_app_id = $4, lane_id = $5, given = $6::jsonb, revision = revision + 1,
            updated_at = now()
      where id = $1`,
    [
      row.id,
      JSON.stringify(row.settings),
      row.sealedCredentials,
      row.codehostAppId,
      row.laneId,
      JSON.stringify(row.given),
    ],
  );
}

/** Replaces the ID of the scope. The new revision makes the workers close their clients of the earlier one. */
export async function recordScope(sql: Sql, id: string, scopeId: string): Promise<void> {
  await sql.query(
    `update sync.destinations
        set scope_id = $2, scope_members = null, scope_confirmed_at = now(), revision = revision + 1, updated_at = now()
      where id = $1`,
    [id, scopeId],
  );
}

/** Forgets the IDs of the scope's members, so that the workers look them up again. */
export async function forgetScopeMembers(sql: Sql, id: string): Promise<void> {
  await sql.query(
    'update sync.destinations set scope_members = null, revision = revision + 1, updated_at = now() where id = $1',
    [id],
  );
}

export async function deleteDestinationRow(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from sync.destinations where id = $1', [id]);
}

/** Returns the names of one type, in order, after the given one. */
export async function listDestinationNames(
  sql: Sql,
  namespaceId: string,
  type: string,
  range: PageRange,
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    'select name from sync.destinations where namespace_id = $1 and type = $2 and name > $3 order by name limit $4',
    [namespaceId, type, range.after, range.limit],
  );
  return rows.map(({ name }) => name);
}

/** Returns the destinations of all namespaces by ID, after the given one. */
export const listAllDestinations = (
  sql: Sql,
  { after, limit }: PageRange,
): Promise<Pick<DestinationRow, 'id' | 'type'>[]> =>
  sql.query('select id, type from sync.destinations where id > $1 order by id limit $2', [after, limit]);

/** Columns of a destination that an overview shows. */
export type DestinationOverviewRow = Pick<
  DestinationRow,
  | 'id'
  | 'type'
  | 'name'
  | 'purgeInitiatedAt'
  | 'retryInitiatedAt'
  | 'pushInitiatedAt'
  | 'replanInitiatedAt'
  | 'backgroundError'
> & { inspectInitiatedAt: Date | null };

/** Returns the destinations of a namespace by type and name, after the given one. */
export const listDestinationOverviews = (
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange<{ type: string; name: string }>,
): Promise<DestinationOverviewRow[]> =>
  sql.query(
    `select id, type, name, purge_initiated_at as "purgeInitiatedAt", retry_initiated_at as "retryInitiatedAt",
            push_initiated_at as "pushInitiatedAt", replan_initiated_at as "replanInitiatedAt", background_error as "backgroundError",
            (select requested_at from sync.inspections where destination_id = id) as "inspectInitiatedAt"
       from sync.destinations where namespace_id = $1 and (type, name) > ($2, $3) order by type, name limit $4`,
    [namespaceId, after.type, after.name, limit],
  );

/** Returns the number of destinations of these types, counted up to `limit`. */
export async function countDestinations(
  sql: Sql,
  namespaceId: string,
  types: readonly string[],
  limit: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from sync.destinations where namespace_id = $1 and type = any($2::text[]) limit $3) as counted`,
    [namespaceId, types, limit],
  );
  return row?.count ?? 0;
}
