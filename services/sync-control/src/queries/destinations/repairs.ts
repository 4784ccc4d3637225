import type { Sql, Tx } from '@secrets/db';
import type { DriftPolicy } from '@secrets/domain';
import { isSyncing, requestInspection } from '@secrets/sync-entries';

/** The repairs of a destination. */
export interface RepairState {
  /** The number of approvals of repairs. Drift that was found before the last one is repaired, or was decided about. */
  decisions: number;
  /** Whether drift was found since. */
  isWanted: boolean;
  isRepairing: boolean;
  /** Whether repairs wait until an operator confirms them. */
  isHeld: boolean;
  /** Whether the decision waits for a look at everything in the destination, and whether that has ended. */
  pass: 'none' | 'running' | 'ended';
  /** Whether the destination asks for repairs, and is neither deleted nor being purged. */
  isRepaired: boolean;
}

/** Returns the destinations with repairs to decide about or to make; none while syncing is disabled or held. */
export async function listDestinationsToRepair(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select destination_id as id from sync.repairs
      where (is_wanted or is_repairing or held_at is not null) and ${isSyncing} order by destination_id`,
  );
  return rows.map(({ id }) => id);
}

/**
 * SQL condition: somebody has confirmed the installation (`confirmInstallation`), and everything in destination `d`, with the
 * inspection `i`, is yet to be looked at since.
 */
const awaitsInspection = `coalesce(coalesce(i.inspected_at, d.created_at) < (select confirmed_at from sync.installation), false)`;

/**
 * Locks the repairs of a destination, so that nothing is found in it meanwhile. Returns undefined while another transaction has
 * them, syncing is disabled or held, or everything is yet to be looked at after a confirmation of the installation.
 */
export async function lockRepairs(tx: Tx, destinationId: string): Promise<RepairState | undefined> {
  const [state] = await tx.query<RepairState>(
    `select r.decisions, r.is_wanted as "isWanted", r.is_repairing as "isRepairing", r.held_at is not null as "isHeld",
            case when not r.is_in_pass then 'none' when i.requested_at is not null then 'running' else 'ended' end as pass,
            coalesce(d.settings ->> 'drift_policy' = $2, false) and d.deleted_at is null and d.purge_initiated_at is null as "isRepaired"
       from (select * from sync.repairs where destination_id = $1 for no key update skip locked) as r
      cross join lateral (select * from sync.destinations where id = r.destination_id limit 1) as d
      cross join lateral (select requested_at, inspected_at from sync.inspections where destination_id = r.destination_id limit 1) as i
      where ${isSyncing} and not ${awaitsInspection}`,
    [destinationId, 'repair' satisfies DriftPolicy],
  );
  return state;
}

/**
 * Begins a pass over a destination: a requested look at everything in it. One that is in progress starts again, because what it
 * has seen may have changed before the first drift was found.
 */
export async function startPass(sql: Sql, destinationId: string): Promise<void> {
  await requestInspection(sql, destinationId, { restart: true });
  await sql.query('update sync.repairs set is_in_pass = true where destination_id = $1', [destinationId]);
}

/** SQL assignments that approve the repairs of everything that was found until now. */
const approval = `decisions = decisions + 1, is_wanted = false, is_in_pass = false, is_repairing = true, held_at = null`;

/** Approves the repairs of everything that was found until now. */
export async function approveRepairs(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(`update sync.repairs set ${approval} where destination_id = $1`, [destinationId]);
}

/** Approves the repairs of a destination if they are held. Returns whether they were. */
export async function approveRepairsIfHeld(sql: Sql, destinationId: string): Promise<boolean> {
  const rows = await sql.query(
    `update sync.repairs set ${approval} where destination_id = $1 and held_at is not null returning destination_id`,
    [destinationId],
  );
  return rows.length > 0;
}

/** Holds repairs until the operator confirms them. Returns type and name of the destination. */
export async function holdRepairs(sql: Sql, destinationId: string): Promise<{ type: string; name: string }> {
  const [row] = await sql.query<{ type: string; name: string }>(
    `update sync.repairs r set held_at = now(), is_wanted = false, is_in_pass = false from sync.destinations d
      where r.destination_id = $1 and d.id = $1 returning d.type, d.name`,
    [destinationId],
  );
  return row!;
}

/** Records that everything that was approved is repaired, or left to the operator. */
export async function endRepairs(sql: Sql, destinationId: string): Promise<void> {
  await sql.query('update sync.repairs set is_repairing = false where destination_id = $1', [destinationId]);
}

/** Ends repairs and their hold without a decision: nothing is left to repair, or the destination does not ask for it. */
export async function forgetRepairs(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    `update sync.repairs set is_wanted = false, is_in_pass = false, is_repairing = false, held_at = null where destination_id = $1`,
    [destinationId],
  );
}

interface HeldRepairs {
  destinationId: string;
  heldAt: Date;
  decisions: number;
}

/** Returns the held repairs of these destinations; those that hold none are left out. */
export const listHeldRepairs = (sql: Sql, destinationIds: readonly string[]): Promise<HeldRepairs[]> =>
  sql.query<HeldRepairs>(
    `select destination_id as "destinationId", held_at as "heldAt", decisions from sync.repairs
      where destination_id = any($1::uuid[]) and held_at is not null`,
    [destinationIds],
  );

/** Returns the number of destinations in which repairs are held. */
export async function countHeldRepairs(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from sync.repairs where held_at is not null',
  );
  return row?.count ?? 0;
}
