import type { PageRange, Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';

/** A stored application; its private key is encrypted. */
export interface CodehostAppRow {
  id: string;
  name: string;
  /** The ID that the code host has given it. */
  appId: number;
  fingerprint: string;
  /** The server that its private key is for; empty for the public service. Never changes. */
  enterpriseUrl: string;
}

const columns = 'id, name, app_id as "appId", fingerprint, enterprise_url as "enterpriseUrl"';

export interface CodehostAppKey {
  namespaceId: string;
  name: string;
}

export async function findCodehostApp(
  sql: Sql,
  { namespaceId, name }: CodehostAppKey,
): Promise<CodehostAppRow | undefined> {
  const [row] = await sql.query<CodehostAppRow>(
    `select ${columns} from sync.codehost_apps where namespace_id = $1 and name = $2`,
    [namespaceId, name],
  );
  return row;
}

/**
 * Returns an application like `findCodehostApp`, and locks its row: to change it, to delete it, or only to prevent its
 * deletion until the transaction ends.
 */
export async function lockCodehostApp(
  sql: Sql,
  { namespaceId, name }: CodehostAppKey,
  strength: 'key share' | 'no key update' | 'update',
): Promise<CodehostAppRow | undefined> {
  const [row] = await sql.query<CodehostAppRow>(
    `select ${columns} from sync.codehost_apps where namespace_id = $1 and name = $2 for ${strength}`,
    [namespaceId, name],
  );
  return row;
}

export async function insertCodehostApp(
  sql: Sql,
  row: CodehostAppKey & CodehostAppRow & { sealedPrivateKey: Uint8Array },
): Promise<void> {
  await sql.query(
    `insert into sync.codehost_apps (id, namespace_id, name, app_id, fingerprint, sealed_private_key, enterprise_url)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [row.id, row.namespaceId, row.name, row.appId, row.fingerprint, row.sealedPrivateKey, row.enterpriseUrl],
  );
}

/**
 * Updates an application, and marks it so that every destination that uses it connects again, starting at the first
 * one. A private key that is null stays as it is.
 */
export async function updateCodehostApp(
  sql: Sql,
  row: Pick<CodehostAppRow, 'id' | 'appId' | 'fingerprint'> & { sealedPrivateKey: Uint8Array | null },
): Promise<void> {
  await sql.query(
    `update sync.codehost_apps
        set app_id = $2, fingerprint = $3, sealed_private_key = coalesce($4, sealed_private_key), updated_at = now(),
            reconnect_initiated_at = now(), reconnect_position = $5
      where id = $1`,
    [row.id, row.appId, row.fingerprint, row.sealedPrivateKey, beforeFirst],
  );
}

export async function deleteCodehostAppRow(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from sync.codehost_apps where id = $1', [id]);
}

/** Returns the names of a namespace's applications, in order, after the given one. */
export async function listCodehostAppNames(
  sql: Sql,
  namespaceId: string,
  range: PageRange,
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    'select name from sync.codehost_apps where namespace_id = $1 and name > $2 order by name limit $3',
    [namespaceId, range.after, range.limit],
  );
  return rows.map(({ name }) => name);
}

/** Returns the destinations that use an application, as `<type>/<name>`; at most `limit`, whichever are found first. */
export async function listUsersOfCodehostApp(sql: Sql, id: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select type || '/' || name as name from sync.destinations where codehost_app_id = $1 order by id limit $2`,
    [id, limit],
  );
  return rows.map(({ name }) => name);
}

/** Returns the IDs of changed applications that still have destinations to reconnect, the earliest change first. */
export async function listAppsToReconnect(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from sync.codehost_apps where reconnect_initiated_at is not null order by reconnect_initiated_at',
  );
  return rows.map(({ id }) => id);
}

/** Locks a changed application. Returns the last destination that was reconnected; undefined if all of them are. */
export async function lockReconnect(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql.query<{ position: string }>(
    `select reconnect_position as position from sync.codehost_apps
      where id = $1 and reconnect_initiated_at is not null for no key update`,
    [id],
  );
  return row?.position;
}

/**
 * Makes the workers connect again to the next destinations that use an application, and marks each for a retry of what
 * waits for the operator. Returns their IDs, in order.
 */
export async function reconnectSomeUsers(
  sql: Sql,
  id: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const page = await sql.query<{ id: string }>(
    'select id from sync.destinations where codehost_app_id = $1 and id > $2 order by id limit $3',
    [id, after, limit],
  );
  const ids = page.map((row) => row.id);
  await sql.query(
    `update sync.destinations
        set revision = revision + 1, retry_initiated_at = clock_timestamp(), background_error = null
      where id = any(array(select id from sync.destinations where id = any($1::uuid[]) order by id for no key update))`,
    [ids],
  );
  return ids;
}

/** Records the last destination that was reconnected; null if no other one follows. */
export async function recordReconnected(sql: Sql, id: string, position: string | null): Promise<void> {
  await sql.query(
    `update sync.codehost_apps
        set reconnect_position = coalesce($2, reconnect_position),
            reconnect_initiated_at = case when $2::uuid is not null then reconnect_initiated_at end
      where id = $1`,
    [id, position],
  );
}
