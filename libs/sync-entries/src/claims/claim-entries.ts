import { randomBytes } from 'node:crypto';
import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { isPausedNow } from '../scheduling/lanes.ts';
import {
  isSyncing,
  keepsSecret,
  mustWait,
  serverIdentity,
  unachieved,
  unlockedIds,
} from '../sql-fragments.ts';

/** An entry that one worker holds until its lease ends. */
export interface ClaimedEntry {
  id: string;
  associationId: string;
  destinationId: string;
  subKey: string;
  desired: 'present' | 'absent';
  externalName: string;
  collisionKey: string;
  /** The intent that this claim works on. If a newer one arrives in the meantime, the entry becomes due again. */
  generation: number;
  /**
   * Identifies this claim. Random, so that no later claim has the same one, even after a failover or a restore that lost this
   * one.
   */
  fence: number;
  /** Identifies the server that committed the claim, and its last start (`serverIdentity`). */
  server: string;
  overwrite: boolean;
  verify: boolean;
  pushedHash: string | null;
  settingsHash: string | null;
  remote: Json | null;
  /** When `recordPutStart` was first called for the external secret that exists now; null if it was not. */
  putStartedAt: Date | null;
  /** Attempts before this one since the last success. */
  attempts: number;
  /** Seconds from the first unachieved intent to the claim. */
  waitedSeconds: number;
  /** Whether a removal keeps the recovery window of the store. */
  isRecoverable: boolean;
  /** Whether a removal leaves the external secret in the store, without the marks of its destination. */
  isKept: boolean;
  /**
   * Whether the entry that replaces this one has failed: then this one, with `desired` absent, gets the newest value and is
   * removed later.
   */
  isRefreshed: boolean;
  /** The trace of the intent; null if it is not traced. */
  traceparent: string | null;
}

/** The effect of an attempt on the external secret of a claimed entry. */
export const actionOf = ({
  desired,
  isRefreshed,
}: Pick<ClaimedEntry, 'desired' | 'isRefreshed'>): 'put' | 'remove' =>
  desired === 'present' || isRefreshed ? 'put' : 'remove';

/** Entries to claim, the worker that claims them, and the duration of its lease. */
interface Claim {
  entryIds: readonly string[];
  destinationType: string;
  owner: string;
  leaseSeconds: number;
}

/** 52 bits, which a number holds, and which leave room for earlier versions, whose claims add one. */
const newFence = (): number => Number(randomBytes(8).readBigUInt64LE() >> 12n);

/**
 * Claims entries for `leaseSeconds`: lease and fence in one statement, so that no two workers ever hold the same entry.
 * Leaves out entries with nothing to do now: deleted, achieved, held by another worker, not yet due, waiting for another
 * entry (`mustWait`), of a paused destination, or while syncing is disabled or held (`isSyncing`). Entries that another
 * transaction has locked are left out too (`lockedEntries`): a claim never waits for a row.
 *
 * What an external secret holds is uncertain after a lease that has ended without an outcome: its worker may have died after it
 * had written another value. The entry is then verified, and so is one whose external secret has drifted.
 *
 * The claim also sets when the scheduler announces the entry again: at the end of the lease. Nothing has to detect that a
 * worker died.
 */
export function claimEntries(sql: Sql, claim: Claim): Promise<ClaimedEntry[]> {
  return sql.query<ClaimedEntry>(
    `update sync.entries e
        set lease_owner = $3, lease_until = now() + $4 * interval '1 second', fence = $5,
            attempts = attempts + 1, verify = verify or lease_owner is not null or coalesce(drift <> 'none', false),
            pushed_hash = case when lease_owner is null then pushed_hash end, announced_at = null, due_at = now() + $4 * interval '1 second'
      where e.id = any(${unlockedIds('$1')}) and e.destination_type = $2
        and e.applied_generation < e.generation
        and (e.lease_until is null or e.lease_until <= now())
        and (e.next_attempt_at is null or e.next_attempt_at <= now())
        and ${isSyncing}
        and not exists (select from sync.destinations d
                         where d.id = e.destination_id and ${isPausedNow('d.id', 'd.lane_id')})
        and not exists (select from sync.entries w where w.id = e.waits_for and ${mustWait})
      returning id, association_id as "associationId", destination_id as "destinationId", sub_key as "subKey", desired,
                external_name as "externalName", collision_key as "collisionKey", generation, fence, ${serverIdentity} as server, overwrite, verify, pushed_hash as "pushedHash",
                settings_hash as "settingsHash", remote, put_started_at as "putStartedAt", attempts - 1 as attempts,
                extract(epoch from now() - requested_at)::float8 as "waitedSeconds", is_recoverable as "isRecoverable", ${keepsSecret} as "isKept",
                exists (select from sync.entries w where w.id = e.waits_for and ${unachieved}) as "isRefreshed", traceparent`,
    [claim.entryIds, claim.destinationType, claim.owner, claim.leaseSeconds, newFence()],
  );
}
