import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';

/** A stored destination; its secret fields are encrypted. */
export interface DestinationRow {
  id: string;
  namespaceId: string;
  type: string;
  name: string;
  settings: Record<string, Json>;
  sealedCredentials: Uint8Array | null;
  purgeInitiatedAt: Date | null;
  purgeError: string | null;
  retryInitiatedAt: Date | null;
  /** Whether it is a retry of everything that has failed, not only of what waits for the operator. */
  retryAll: boolean;
  pushInitiatedAt: Date | null;
  pushPosition: string;
  replanInitiatedAt: Date | null;
  replanPosition: string;
  /** Associations that the current or last replan left as they were, and why the last one of them. */
  replanRefused: number;
  replanError: string | null;
  /** Why the last page of work in the background failed. */
  backgroundError: string | null;
}

const columns = `id, namespace_id as "namespaceId", type, name, settings, sealed_credentials as "sealedCredentials",
  purge_initiated_at as "purgeInitiatedAt", purge_error as "purgeError",
  retry_initiated_at as "retryInitiatedAt", retry_all as "retryAll", push_initiated_at as "pushInitiatedAt", push_position as "pushPosition",
  replan_initiated_at as "replanInitiatedAt", replan_position as "replanPosition", replan_refused as "replanRefused",
  replan_error as "replanError", background_error as "backgroundError"`;

/** What identifies a destination. */
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
  return row;
}

/** Returns the granularity of a destination; undefined if it no longer exists. */
export async function findGranularity(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql.query<{ granularity: string }>(
    `select settings->>'granularity' as granularity from sync.destinations where id = $1`,
    [id],
  );
  return row?.granularity;
}

/**
 * As `findDestination`; also locks the row, so that it is not changed, purged or deleted before the transaction ends. Not
 * `for update`: following a secret holds an association while the foreign key of its new entries locks the destination,
 * and a set holds the destination while it waits for the association.
 */
export async function lockDestination(sql: Sql, key: DestinationKey): Promise<DestinationRow | undefined> {
  const [row] = await sql.query<DestinationRow>(
    `select ${columns} from sync.destinations where namespace_id = $1 and type = $2 and name = $3 for no key update`,
    keyOf(key),
  );
  return row;
}

export async function insertDestination(
  sql: Sql,
  row: DestinationKey & {
    id: string;
    namespacePath: string;
    settings: Record<string, Json>;
    sealedCredentials: Uint8Array | null;
    codehostAppId: string | null;
    laneId: string;
  },
): Promise<void> {
  await sql.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, sealed_credentials, codehost_app_id, lane_id)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9)`,
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
    ],
  );
}

/** Updates a destination. The new revision makes the workers close their clients of the older one. */
export async function updateDestination(
  sql: Sql,
  row: Pick<DestinationRow, 'id' | 'settings' | 'sealedCredentials'> & {
    codehostAppId: string | null;
    laneId: string;
  },
): Promise<void> {
  await sql.query(
    `update sync.destinations
        set settings = $2::jsonb, sealed_credentials = $3, codehost_app_id = $4, lane_id = $5, revision = revision + 1, updated_at = now()
      where id = $1`,
    [row.id, JSON.stringify(row.settings), row.sealedCredentials, row.codehostAppId, row.laneId],
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
  range: { after: string; limit: number },
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
  { after, limit }: { after: string; limit: number },
): Promise<Pick<DestinationRow, 'id' | 'type'>[]> =>
  sql.query('select id, type from sync.destinations where id > $1 order by id limit $2', [after, limit]);

/** What an overview of destinations shows of one. */
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
>;

/** Returns the destinations of a namespace by type and name, after the given one. */
export const listDestinationOverviews = (
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: { type: string; name: string }; limit: number },
): Promise<DestinationOverviewRow[]> =>
  sql.query(
    `select id, type, name, purge_initiated_at as "purgeInitiatedAt", retry_initiated_at as "retryInitiatedAt",
            push_initiated_at as "pushInitiatedAt", replan_initiated_at as "replanInitiatedAt", background_error as "backgroundError"
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
