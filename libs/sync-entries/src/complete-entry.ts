import type { Db, Sql } from '@secrets/db';
import type { FaultKind, Json, SyncStatus } from '@secrets/domain';
import { type ClaimedEntry, locked } from './claim-entry.ts';

type Held = Pick<ClaimedEntry, 'id' | 'fence' | 'generation'>;

/** What a completed attempt achieved. */
export interface Achieved {
  status: SyncStatus;
  pushedHash: string | null;
  settingsHash: string | null;
  remote: Json | null;
}

/**
 * Records successes, of leases that still hold; gives the ids of those. A newer intent that came during the work makes
 * an entry due again at once. An entry whose lease was lost is not written: another holds it. Of several, those that a
 * transaction has locked at this moment are left out too: complete such a one alone, to know.
 */
export async function completeEntries(
  sql: Sql,
  completed: readonly { held: Held; achieved: Achieved }[],
): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    `update sync.entries e
        set applied_generation = done.generation,
            status = case when e.generation > done.generation then 'PENDING' else done.status end,
            due_at = case when e.generation > done.generation then now() end,
            verify = verify and e.generation > done.generation,
            overwrite = overwrite and e.generation > done.generation,
            pushed_hash = done.pushed_hash, settings_hash = done.settings_hash, remote = done.remote::jsonb,
            attempts = 0, next_attempt_at = null, announced_at = null, lease_owner = null, lease_until = null,
            fault = null, last_error = null, synced_at = now(), updated_at = now()
       from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
              as done (id, fence, generation, status, pushed_hash, settings_hash, remote)
      where e.id = any(${locked('$1', completed)}) and e.id = done.id and e.fence = done.fence and e.lease_until is not null
      returning e.id`,
    [
      completed.map(({ held }) => held.id),
      completed.map(({ held }) => held.fence),
      completed.map(({ held }) => held.generation),
      completed.map(({ achieved }) => achieved.status),
      completed.map(({ achieved }) => achieved.pushedHash),
      completed.map(({ achieved }) => achieved.settingsHash),
      completed.map(({ achieved }) => (achieved.remote === null ? null : JSON.stringify(achieved.remote))),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Records that the external secret of an entry whose `desired` is absent is gone: the row goes, and its association
 * with the last row of one that is being removed. When it was set again meanwhile, the row stays and is due.
 */
export function completeRemoval(db: Db, held: Held & { associationId: string }): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Taken first: two workers that remove the last two entries must not each believe the other's is left.
    await tx.query('select id from sync.associations where id = $1 for update', [held.associationId]);
    const [gone] = await tx.query(
      'delete from sync.entries where id = $1 and fence = $2 and generation = $3 and lease_until is not null returning id',
      [held.id, held.fence, held.generation],
    );
    if (gone === undefined) {
      const setAgain = { status: 'PENDING', pushedHash: null, settingsHash: null, remote: null } as const;
      return (await completeEntries(tx, [{ held, achieved: setAgain }])).has(held.id);
    }
    await tx.query(
      `delete from sync.associations a
        where id = $1 and removing and not exists (select from sync.entries e where e.association_id = a.id)`,
      [held.associationId],
    );
    return true;
  });
}

/**
 * Ends the lease of a cancelled attempt `seconds` from now, if it still holds: whoever claims the entry then
 * goes on with it. The attempt must write nothing any more.
 */
export async function shortenLease(
  sql: Sql,
  held: Pick<ClaimedEntry, 'id' | 'fence'>,
  seconds: number,
): Promise<void> {
  await sql.query(
    `update sync.entries
        set lease_until = now() + $3 * interval '1 second', due_at = now() + $3 * interval '1 second'
      where id = $1 and fence = $2 and lease_until > now() + $3 * interval '1 second'`,
    [held.id, held.fence, seconds],
  );
}

/** How an attempt failed, and when the next one is. */
export interface Failed {
  status: SyncStatus;
  fault: FaultKind | null;
  /** A sentence of ours. */
  error: string;
  /** Seconds until the next attempt; null: it waits for the operator, or for a new intent. */
  retryInSeconds: number | null;
}

/** Records a failure, if the lease still holds; gives the lease back. A newer intent is tried at once. */
export async function failEntry(sql: Sql, held: Held, failed: Failed): Promise<boolean> {
  const rows = await sql.query(
    `update sync.entries
        set status = case when generation > $3 then 'PENDING' else $4 end,
            fault = $5, last_error = $6,
            applied_generation = case when $7::float8 is null and generation = $3 then generation else applied_generation end,
            next_attempt_at = case when generation = $3 then now() + $7::float8 * interval '1 second' end,
            due_at = case when generation > $3 then now() else now() + $7::float8 * interval '1 second' end,
            announced_at = null, lease_owner = null, lease_until = null, updated_at = now()
      where id = $1 and fence = $2 and lease_until is not null
      returning id`,
    [held.id, held.fence, held.generation, failed.status, failed.fault, failed.error, failed.retryInSeconds],
  );
  return rows.length === 1;
}
