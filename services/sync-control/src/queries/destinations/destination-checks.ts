import type { Sql } from '@secrets/db';
import { CheckStep } from '@secrets/domain';
import { lateWriteSeconds, liveTypes } from '@secrets/sync-entries';
import { z } from 'zod';

/** A check that is requested: which destination, the name of its probe, and how many seconds it may take. */
export interface NewCheck {
  destinationId: string;
  destinationType: string;
  externalName: string;
  seconds: number;
}

/** Throws a unique violation if another check of the destination runs. */
export async function insertCheck(sql: Sql, check: NewCheck): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at)
     values ($1, $2, $3, now() + $4 * interval '1 second') returning id`,
    [check.destinationId, check.destinationType, check.externalName, check.seconds],
  );
  return row!.id;
}

/** Ends a check of a destination whose time is over, so that another one can run. */
export async function endOverdueCheck(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    'update sync.destination_checks set ended_at = now() where destination_id = $1 and ended_at is null and ends_at <= now()',
    [destinationId],
  );
}

/** Withdraws a check unless a worker has begun it. Returns whether it did. */
export async function deleteUnstartedCheck(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query(
    'delete from sync.destination_checks where id = $1 and started_at is null returning id',
    [id],
  );
  return rows.length === 1;
}

export interface CheckProgress {
  isStarted: boolean;
  isEnded: boolean;
  /** Whether its destination was deleted in the meantime. */
  isDeleted: boolean;
  steps: CheckStep[];
}

/** Returns undefined if the destination was deleted in the meantime. */
export async function findCheckProgress(sql: Sql, id: string): Promise<CheckProgress | undefined> {
  const [row] = await sql.query<Omit<CheckProgress, 'steps'> & { steps: unknown }>(
    `select c.started_at is not null as "isStarted", c.ended_at is not null as "isEnded", c.steps, d.deleted_at is not null as "isDeleted"
       from sync.destination_checks c join sync.destinations d on d.id = c.destination_id where c.id = $1`,
    [id],
  );
  return row && { ...row, steps: z.array(CheckStep).parse(row.steps) };
}

const hasLiveWorker = `c.destination_type = any(${liveTypes})`;

/** A probe that a check may have left behind. */
export interface LeftProbeRow {
  checkId: string;
  destinationId: string;
  destinationType: string;
  externalName: string;
  /** Whether a worker of the type is running. */
  hasWorker: boolean;
  /** Number of requests for its removal, including this one. */
  removals: number;
}

/**
 * Returns probes that may have been left behind and whose removal is to be requested now, at most `limit`. Each request
 * doubles the time until the next one, which is between a minute and a day. Without a worker of the type, nothing is
 * counted.
 */
export const claimLeftProbes = (sql: Sql, limit: number): Promise<LeftProbeRow[]> =>
  sql.query<LeftProbeRow>(
    `update sync.destination_checks c
        set next_removal_at = now() + least(interval '1 day', interval '1 minute' * 2 ^ removals),
            removals = removals + case when ${hasLiveWorker} then 1 else 0 end,
            ended_at = coalesce(ended_at, now())
      where id = any(array(
        select id from sync.destination_checks
         where started_at is not null and removed_at is null and coalesce(next_removal_at, ends_at) < now()
           and ends_at < now() - ${lateWriteSeconds} * interval '1 second'
         order by coalesce(next_removal_at, ends_at) limit $1 for update skip locked))
      returning id as "checkId", destination_id as "destinationId", destination_type as "destinationType",
                external_name as "externalName", ${hasLiveWorker} as "hasWorker", removals`,
    [limit],
  );

/** Deletes checks that were requested more than an hour ago, at most `limit`, except those whose probe may still exist. */
export async function deleteOldChecks(sql: Sql, limit: number): Promise<void> {
  await sql.query(
    `delete from sync.destination_checks
      where id = any(array(
        select id from sync.destination_checks
         where requested_at < now() - interval '1 hour' and (started_at is null or removed_at is not null)
         order by requested_at limit $1 for update skip locked))`,
    [limit],
  );
}

/** Forgets checks whose probes could not be removed. */
export async function deleteChecks(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query('delete from sync.destination_checks where id = any($1::uuid[])', [ids]);
}
