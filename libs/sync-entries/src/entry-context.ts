import type { Sql } from '@secrets/db';

/**
 * What a worker needs to know of an entry. Read after the claim in a statement of its own: a newer snapshot, so that the
 * value is never older than the generation that was claimed.
 */
export interface EntryContext {
  destination: {
    id: string;
    type: string;
    name: string;
    namespacePath: string;
    revision: number;
    settings: Record<string, unknown>;
    sealedCredentials: Uint8Array | null;
  };
  secretId: string;
  /** The lane of the destination, and whether its last call failed. */
  lane: { id: string; isUnhealthy: boolean };
  /** The newest readable version; null when none is left. */
  value: { location: { mountId: string; path: string; versionId: string }; sealed: Uint8Array } | null;
}

interface ContextRow {
  entry_id: string;
  destination_id: string;
  type: string;
  name: string;
  namespace_path: string;
  revision: number;
  settings: Record<string, unknown>;
  sealed_credentials: Uint8Array | null;
  secret_id: string;
  lane_id: string;
  is_unhealthy: boolean;
  mount_id: string | null;
  path: string;
  version_id: string;
  sealed: Uint8Array;
}

/** Returns destination and newest readable value of claimed entries, by entry ID. Deleted entries are left out. */
export async function readEntryContexts(
  sql: Sql,
  entryIds: readonly string[],
): Promise<Map<string, EntryContext>> {
  // The limit forces one lookup by primary key for each entry, whatever the statistics of the tables suggest.
  const rows = await sql.query<ContextRow>(
    `select found.* from unnest($1::uuid[]) as wanted (id) cross join lateral (
       select e.id as entry_id, d.id as destination_id, d.type, d.name, d.namespace_path, d.revision, d.settings,
              d.sealed_credentials, l.id as lane_id, l.failures > 0 or coalesce(l.slow_until > now(), false) as is_unhealthy,
              v.secret_id, v.mount_id, v.path, v.version_id, v.sealed
         from sync.entries e
         join sync.destinations d on d.id = e.destination_id
         join sync.lanes l on l.id = d.lane_id
         left join sync.entry_values v on v.entry_id = e.id
        where e.id = wanted.id limit 1) as found`,
    [entryIds],
  );
  return new Map(rows.map((row) => [row.entry_id, contextOf(row)]));
}

const contextOf = (row: ContextRow): EntryContext => ({
  destination: {
    id: row.destination_id,
    type: row.type,
    name: row.name,
    namespacePath: row.namespace_path,
    revision: row.revision,
    settings: row.settings,
    sealedCredentials: row.sealed_credentials,
  },
  secretId: row.secret_id,
  lane: { id: row.lane_id, isUnhealthy: row.is_unhealthy },
  value:
    row.mount_id === null
      ? null
      : {
          location: { mountId: row.mount_id, path: row.path, versionId: row.version_id },
          sealed: row.sealed,
        },
});
