import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';

/** An entry in the hands of one worker, until its lease ends. */
export interface ClaimedEntry {
  id: string;
  associationId: string;
  destinationId: string;
  subKey: string;
  desired: 'present' | 'absent';
  externalName: string;
  /** The intent that this claim works on; a newer one makes the entry go round again. */
  generation: number;
  fence: number;
  overwrite: boolean;
  verify: boolean;
  pushedHash: string | null;
  settingsHash: string | null;
  remote: Json | null;
  /** Attempts before this one since the last success. */
  attempts: number;
}

/** What is claimed, by whom, for how long. */
export interface Claim {
  entryIds: readonly string[];
  destinationType: string;
  owner: string;
  leaseSeconds: number;
}

/**
 * Takes entries for `leaseSeconds`: lease and fence in one statement, so that no two workers ever hold one at once.
 * Leaves out those with nothing to do now: gone, achieved, held by another, not yet due, waiting for another entry,
 * destination in a pause, or syncing disabled. Of several it also leaves out those that a transaction has locked at
 * this moment (`locked`): claim such a one alone.
 *
 * The claim also sets when the relay announces the entry again: at the end of the lease. A worker that dies needs
 * nobody to notice.
 */
export function claimEntries(sql: Sql, claim: Claim): Promise<ClaimedEntry[]> {
  return sql.query<ClaimedEntry>(
    `update sync.entries e
        set lease_owner = $3, lease_until = now() + $4 * interval '1 second', fence = fence + 1,
            attempts = attempts + 1, announced_at = null, due_at = now() + $4 * interval '1 second'
      where e.id = any(${locked('$1', claim.entryIds)}) and e.destination_type = $2
        and e.applied_generation < e.generation
        and (e.lease_until is null or e.lease_until <= now())
        and (e.next_attempt_at is null or e.next_attempt_at <= now())
        and not exists (select from sync.config where disabled)
        and not exists (select from sync.destination_health h where h.destination_id = e.destination_id and h.paused_until > now())
        and not exists (select from sync.entries w where w.id = e.waits_for and ${unachieved})
      returning id, association_id as "associationId", destination_id as "destinationId", sub_key as "subKey", desired,
                external_name as "externalName", generation, fence, overwrite, verify, pushed_hash as "pushedHash",
                settings_hash as "settingsHash", remote, attempts - 1 as attempts`,
    [claim.entryIds, claim.destinationType, claim.owner, claim.leaseSeconds],
  );
}

/** SQL: an awaited entry `w` keeps those that wait for it. */
export const unachieved = `w.status not in ('SYNCED', 'UNSYNCED')`;

/**
 * SQL of an array of ids: those of these entries that the statement it stands in may write. One alone may be waited for.
 * Of several, those that another transaction holds are left out, since whoever holds one row and waits for another
 * invites a deadlock.
 */
export const locked = (parameter: string, entries: readonly unknown[]): string =>
  entries.length > 1
    ? `array(select id from sync.entries where id = any(${parameter}::uuid[]) for update skip locked)`
    : `${parameter}::uuid[]`;

/**
 * What an entry is about, read after the claim in a statement of its own: a newer snapshot, so that the value is
 * never older than the generation that was claimed.
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
  /** The destination failed before this attempt, and was not heard of since. */
  isTroubled: boolean;
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
  troubled: boolean;
  mount_id: string | null;
  path: string;
  version_id: string;
  sealed: Uint8Array;
}

/** Reads destination and newest readable value of claimed entries, by the entry's id. Without those that are gone. */
export async function readEntryContexts(
  sql: Sql,
  entryIds: readonly string[],
): Promise<Map<string, EntryContext>> {
  // One look by key after the other, whatever the planner believes of the tables: that is what the limit is for.
  const rows = await sql.query<ContextRow>(
    `select found.* from unnest($1::uuid[]) as wanted (id) cross join lateral (
       select e.id as entry_id, d.id as destination_id, d.type, d.name, d.namespace_path, d.revision, d.settings,
              d.sealed_credentials, coalesce(h.failures, 0) > 0 as troubled,
              v.secret_id, v.mount_id, v.path, v.version_id, v.sealed
         from sync.entries e
         join sync.destinations d on d.id = e.destination_id
         left join sync.destination_health h on h.destination_id = d.id
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
  isTroubled: row.troubled,
  value:
    row.mount_id === null
      ? null
      : {
          location: { mountId: row.mount_id, path: row.path, versionId: row.version_id },
          sealed: row.sealed,
        },
});
