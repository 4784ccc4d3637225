import type { Sql } from '@secrets/db';
import type { CheckStep, Json } from '@secrets/domain';
import type { EntryContext } from './claims/entry-context.ts';
import { destinationColumns, isSyncing } from './sql-fragments.ts';

/** The external secret that a check creates and removes, and its destination. */
export interface Probe {
  checkId: string;
  externalName: string;
  remote: Json | null;
  putStartedAt: Date | null;
  destination: EntryContext['destination'];
  laneId: string;
}

interface ProbeRow extends Omit<Probe, 'destination'>, Omit<Probe['destination'], 'id'> {
  destinationId: string;
}

/** The columns of `ProbeRow`, of the table aliases `c` and `d`. */
const probeColumns = `c.id as "checkId", c.external_name as "externalName", c.remote, c.put_started_at as "putStartedAt",
  d.lane_id as "laneId", d.id as "destinationId", ${destinationColumns}`;

/** SQL condition: check `c` has ended, or its worker is gone, and its probe may still exist. */
const isLeft = `c.started_at is not null and c.removed_at is null and (c.ended_at is not null or c.ends_at <= now())`;

/**
 * Begins a check, and returns its probe and the milliseconds that it may take. Returns undefined if another worker has begun
 * it, its request has timed out, or syncing is disabled or held. From here on, the probe counts as left behind until
 * `recordProbeRemoved`.
 */
export async function claimCheck(
  sql: Sql,
  id: string,
): Promise<{ probe: Probe; milliseconds: number } | undefined> {
  const [row] = await sql.query<ProbeRow & { milliseconds: number }>(
    `update sync.destination_checks c set started_at = now()
       from sync.destinations d
      where c.id = $1 and d.id = c.destination_id and d.deleted_at is null
        and c.started_at is null and c.ended_at is null and c.ends_at > now()
        and ${isSyncing}
      returning ${probeColumns}, (extract(epoch from c.ends_at - now()) * 1000)::float8 as milliseconds`,
    [id],
  );
  if (row === undefined) return undefined;
  const { milliseconds, ...probe } = row;
  return { probe: probeOf(probe), milliseconds };
}

/** Returns the probe of a check if it may have been left behind; undefined also while syncing is disabled or held. */
export async function findLeftProbe(sql: Sql, checkId: string): Promise<Probe | undefined> {
  const [row] = await sql.query<ProbeRow>(
    `select ${probeColumns} from sync.destination_checks c join sync.destinations d on d.id = c.destination_id and d.deleted_at is null
      where c.id = $1 and ${isLeft} and ${isSyncing}`,
    [checkId],
  );
  return row && probeOf(row);
}

/** Returns the probes that earlier checks of a destination may have left behind, at most `limit`. */
export async function listLeftProbes(sql: Sql, destinationId: string, limit: number): Promise<Probe[]> {
  const rows = await sql.query<ProbeRow>(
    `select ${probeColumns} from sync.destination_checks c join sync.destinations d on d.id = c.destination_id
      where c.destination_id = $1 and ${isLeft} order by c.requested_at limit $2`,
    [destinationId, limit],
  );
  return rows.map(probeOf);
}

/** Records that the probe is about to be written. Returns whether the check still runs; if not, nothing may be written. */
export async function recordProbeStart(sql: Sql, checkId: string): Promise<boolean> {
  const rows = await sql.query(
    `update sync.destination_checks set put_started_at = coalesce(put_started_at, now())
      where id = $1 and ended_at is null and ends_at > now()
      returning id`,
    [checkId],
  );
  return rows.length === 1;
}

/** Records what a put of the probe has returned, so that any worker can remove it. */
export async function recordProbePut(sql: Sql, checkId: string, remote: Json): Promise<void> {
  await sql.query('update sync.destination_checks set remote = $2::jsonb where id = $1', [
    checkId,
    JSON.stringify(remote),
  ]);
}

/**
 * Records that the probe no longer exists: it was removed by its check, which knows the outcome of all its writes, or never
 * written.
 */
export async function recordProbeRemoved(sql: Sql, checkId: string): Promise<void> {
  await sql.query('update sync.destination_checks set removed_at = now() where id = $1', [checkId]);
}

/** Seconds after the end of a check for which a write with an unknown outcome may still arrive. */
export const lateWriteSeconds = 60;

/**
 * Records that a probe that was left behind was removed. Before a write of its check can no longer arrive, this changes
 * nothing: the probe has to be removed again.
 */
export async function recordLeftProbeRemoved(sql: Sql, checkId: string): Promise<void> {
  await sql.query(
    `update sync.destination_checks set removed_at = now() where id = $1 and ends_at < now() - ${lateWriteSeconds} * interval '1 second'`,
    [checkId],
  );
}

/** Ends a check that no worker may begin any longer, so that its request does not wait in vain. */
export async function endUnstartedCheck(sql: Sql, checkId: string): Promise<void> {
  await sql.query(
    'update sync.destination_checks set ended_at = now() where id = $1 and started_at is null and ended_at is null',
    [checkId],
  );
}

/** Records the outcome of a check, unless it has ended before. */
export async function endCheck(sql: Sql, checkId: string, steps: readonly CheckStep[]): Promise<void> {
  await sql.query(
    'update sync.destination_checks set ended_at = now(), steps = $2::jsonb where id = $1 and ended_at is null',
    [checkId, JSON.stringify(steps)],
  );
}

const probeOf = ({ checkId, externalName, remote, putStartedAt, laneId, ...row }: ProbeRow): Probe => {
  const { destinationId, ...destination } = row;
  return {
    checkId,
    externalName,
    remote,
    putStartedAt,
    laneId,
    destination: { ...destination, id: destinationId },
  };
};
