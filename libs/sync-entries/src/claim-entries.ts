import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { isPausedNow } from './scheduling/lanes.ts';
import { notLocked, unachieved } from './sql-fragments.ts';

/** An entry that one worker holds until its lease ends. */
export interface ClaimedEntry {
  id: string;
  associationId: string;
  destinationId: string;
  subKey: string;
  desired: 'present' | 'absent';
  externalName: string;
  /** The intent that this claim works on. If a newer one arrives in the meantime, the entry becomes due again. */
  generation: number;
  fence: number;
  overwrite: boolean;
  verify: boolean;
  pushedHash: string | null;
  settingsHash: string | null;
  remote: Json | null;
  /** When `recordPutStart` was first called for the external secret that exists now; null if it was not. */
  putStartedAt: Date | null;
  /** Attempts before this one since the last success. */
  attempts: number;
  /** How long before the claim the first intent was recorded that is not achieved yet. */
  waitedSeconds: number;
  /** The trace that the intent belongs to; null if it is not traced. */
  traceparent: string | null;
}

/** Which entries to claim, for which worker, for how long. */
interface Claim {
  entryIds: readonly string[];
  destinationType: string;
  owner: string;
  leaseSeconds: number;
}

/**
 * Claims entries for `leaseSeconds`: lease and fence in one statement, so that no two workers ever hold the same entry.
 * Leaves out entries with nothing to do now: deleted, achieved, held by another worker, not yet due, waiting for another
 * entry, of a paused destination, or while syncing is disabled. Entries that another transaction has locked are left out
 * too (`lockedEntries`): a claim never waits for a row.
 *
 * What an external secret holds is uncertain after a lease that has ended without an outcome: its worker may have died after it had
 * written another value. The entry is then verified.
 *
 * The claim also sets when the scheduler announces the entry again: at the end of the lease. Nothing has to detect that a
 * worker died.
 */
export function claimEntries(sql: Sql, claim: Claim): Promise<ClaimedEntry[]> {
  return sql.query<ClaimedEntry>(
    `update sync.entries e
        set lease_owner = $3, lease_until = now() + $4 * interval '1 second', fence = fence + 1,
            attempts = attempts + 1, verify = verify or lease_owner is not null,
            pushed_hash = case when lease_owner is null then pushed_hash end, announced_at = null, due_at = now() + $4 * interval '1 second'
      where e.id = any(${notLocked('$1')}) and e.destination_type = $2
        and e.applied_generation < e.generation
        and (e.lease_until is null or e.lease_until <= now())
        and (e.next_attempt_at is null or e.next_attempt_at <= now())
        and not exists (select from sync.config where disabled)
        and not exists (select from sync.destinations d
                         where d.id = e.destination_id and ${isPausedNow('d.id', 'd.lane_id')})
        and not exists (select from sync.entries w where w.id = e.waits_for and ${unachieved})
      returning id, association_id as "associationId", destination_id as "destinationId", sub_key as "subKey", desired,
                external_name as "externalName", generation, fence, overwrite, verify, pushed_hash as "pushedHash",
                settings_hash as "settingsHash", remote, put_started_at as "putStartedAt", attempts - 1 as attempts,
                extract(epoch from now() - requested_at)::float8 as "waitedSeconds", traceparent`,
    [claim.entryIds, claim.destinationType, claim.owner, claim.leaseSeconds],
  );
}
