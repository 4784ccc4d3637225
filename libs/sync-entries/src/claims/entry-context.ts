import type { Sql } from '@secrets/db';
import { isSlowNow } from '../scheduling/lanes.ts';
import { destinationRevision } from '../sql-fragments.ts';
import { type Rival, type RivalRow, rivalOf, toRival } from './rivals.ts';

/**
 * Everything that a worker needs to push an entry. It is read after the claim in a statement of its own: a newer snapshot, so
 * that the value is never older than the generation that was claimed.
 */
export interface EntryContext {
  destination: {
    id: string;
    type: string;
    name: string;
    namespacePath: string;
    /** Identifies the settings, credentials and application; every change gives it a new value. */
    revision: string;
    settings: Record<string, unknown>;
    sealedCredentials: Uint8Array | null;
    /** The application whose private key belongs to the credentials (`readCodehostApp`). */
    codehostAppId: string | null;
    /** The provider's ID of what the external secrets belong to; null before the first contact (`rememberScope`). */
    scopeId: string | null;
    /** The provider's IDs of members of the scope that the settings name, by name (`rememberScopeMembers`). */
    scopeMembers: Readonly<Record<string, string>>;
  };
  /** The secret, with its names as in the association, and what this has in place of the settings of the destination. */
  source: {
    secretId: string;
    mount: string;
    secretName: string;
    naming: Readonly<Record<string, unknown>>;
  };
  place: EntryPlace;
  /** The lane of the destination, and whether the last call of either failed. */
  lane: { id: string; isUnhealthy: boolean };
  /** Whether the secret exists under an enabled mount. */
  secretExists: boolean;
  /** The newest readable version; null when none is left. */
  value: StoredValue | null;
}

/** The place of the external secret. */
interface EntryPlace {
  /** Whether the operator has confirmed another scope since the entry was last synced. */
  isOfEarlierScope: boolean;
  /** Whether the store does not show who wrote a secret, so that the entry may have rivals in other destinations. */
  mayHaveRivals: boolean;
  rival: Rival | null;
}

/** A version of a secret as stored. */
export interface StoredValue {
  location: { mountId: string; path: string; versionId: string };
  /** The size of `sealed`. */
  bytes: number;
  /** Null if the caller has named this version as known, or if it is too large to be read with others (`readSealedValue`). */
  sealed: Uint8Array | null;
}

/** Larger values are read one by one, so that a batch cannot take an unbounded amount of memory. */
const maxBytesTogether = 65_536;

interface ContextRow extends RivalRow {
  entry_id: string;
  destination_id: string;
  type: string;
  name: string;
  namespace_path: string;
  revision: string;
  settings: Record<string, unknown>;
  sealed_credentials: Uint8Array | null;
  codehost_app_id: string | null;
  scope_id: string | null;
  scope_members: Record<string, string>;
  may_have_rivals: boolean;
  is_of_earlier_scope: boolean;
  secret_id: string;
  mount: string;
  secret_name: string;
  naming: Record<string, unknown> | null;
  lane_id: string;
  is_unhealthy: boolean;
  secret_exists: boolean;
  mount_id: string | null;
  path: string;
  version_id: string;
  bytes: number;
  sealed: Uint8Array | null;
}

/**
 * Returns destination and newest readable value of claimed entries, by entry ID. Deleted entries are left out, and
 * those of a destination that is being deleted by force: the provider must not be called for them. Entries of one
 * secret share one `StoredValue`, which is read once; the sealed value of a version in `knownVersionIds`, and one of more than
 * 64 KiB, is not read at all.
 */
export async function readEntryContexts(
  sql: Sql,
  entryIds: readonly string[],
  knownVersionIds: readonly string[] = [],
): Promise<Map<string, EntryContext>> {
  // The limit forces one lookup by primary key for each entry, whatever the statistics of the tables suggest.
  const rows = await sql.query<ContextRow>(
    `select entry_id, destination_id, type, name, namespace_path, revision, settings, sealed_credentials, codehost_app_id,
            scope_id, scope_members, may_have_rivals, rival_name, is_holder, is_wanted, is_of_earlier_scope, lane_id, is_unhealthy, secret_id, mount, secret_name, naming, secret_exists, mount_id, path, version_id, octet_length(sealed) as bytes,
            case when version_id <> all($2::uuid[]) and octet_length(sealed) <= $3
                  and row_number() over (partition by version_id order by entry_id) = 1 then sealed end as sealed
       from unnest($1::uuid[]) as wanted (id) cross join lateral (
       select e.id as entry_id, d.id as destination_id, d.type, d.name, d.namespace_path, ${destinationRevision} as revision, d.settings,
              d.sealed_credentials, d.codehost_app_id, d.scope_id, coalesce(d.scope_members, '{}') as scope_members, d.place is not null as may_have_rivals,
              rival.rival_name, rival.is_holder, rival.is_wanted,
              coalesce(d.scope_confirmed_at > e.synced_at, false) as is_of_earlier_scope, l.id as lane_id,
              l.failures > 0 or coalesce(h.failures > 0 or h.refusals > 0, false) or ${isSlowNow('h')} as is_unhealthy,
              v.secret_id, v.mount, v.secret_name, v.naming, v.secret_exists, v.mount_id, v.path, v.version_id, v.sealed
         from sync.entries e
         join sync.destinations d on d.id = e.destination_id and d.deleted_at is null
         join sync.lanes l on l.id = d.lane_id
         left join sync.destination_health h on h.destination_id = d.id
         left join sync.entry_values v on v.entry_id = e.id
         left join lateral (${rivalOf}) as rival on d.place is not null
        where e.id = wanted.id limit 1) as found`,
    [entryIds, knownVersionIds, maxBytesTogether],
  );
  const values = storedValues(rows);
  return new Map(rows.map((row) => [row.entry_id, contextOf(row, values)]));
}

/** Returns the sealed value of an entry's secret; undefined if this version is no longer the newest readable one. */
export async function readSealedValue(
  sql: Sql,
  entryId: string,
  versionId: string,
): Promise<Uint8Array | undefined> {
  const [row] = await sql.query<{ sealed: Uint8Array }>(
    'select sealed from sync.entry_values where entry_id = $1 and version_id = $2',
    [entryId, versionId],
  );
  return row?.sealed;
}

/** Returns the values by version ID. Only one row of each version has the sealed value. */
function storedValues(rows: readonly ContextRow[]): Map<string, StoredValue> {
  const values = new Map<string, StoredValue>();
  for (const { mount_id: mountId, path, version_id: versionId, bytes, sealed } of rows) {
    if (mountId === null || (sealed === null && values.has(versionId))) continue;
    values.set(versionId, { location: { mountId, path, versionId }, bytes, sealed });
  }
  return values;
}

const contextOf = (row: ContextRow, values: ReadonlyMap<string, StoredValue>): EntryContext => ({
  destination: {
    id: row.destination_id,
    type: row.type,
    name: row.name,
    namespacePath: row.namespace_path,
    revision: row.revision,
    settings: row.settings,
    sealedCredentials: row.sealed_credentials,
    codehostAppId: row.codehost_app_id,
    scopeId: row.scope_id,
    scopeMembers: row.scope_members,
  },
  source: {
    secretId: row.secret_id,
    mount: row.mount,
    secretName: row.secret_name,
    naming: row.naming ?? {},
  },
  place: {
    isOfEarlierScope: row.is_of_earlier_scope,
    mayHaveRivals: row.may_have_rivals,
    rival: toRival(row),
  },
  lane: { id: row.lane_id, isUnhealthy: row.is_unhealthy },
  secretExists: row.secret_exists,
  value: row.mount_id === null ? null : values.get(row.version_id)!,
});
