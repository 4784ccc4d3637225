import type { Sql } from '@secrets/db';
import type { Drift } from '@secrets/domain';
import { isDrifted } from '../sql-fragments.ts';

/** Hours for which a repair is remembered, to recognise that somebody undoes it again and again. */
export const rememberedHours = 24;

/** Number of repairs of an entry that are remembered. */
const remembered = 2;

/** An entry whose external secret somebody else has changed or deleted, and that a repair may push again. */
export interface RepairableEntry {
  id: string;
  /** The repairs of the last hours (`rememberedHours`) since the last set, retry or new version, the earliest first. */
  repairedAt: Date[];
}

/** The drift that a repair ends. */
const repairable: readonly Drift[] = ['changed', 'missing'];

/** SQL condition: nothing was requested or tried since a look has found the drift of entry `e`. */
const isUntried = `${isDrifted} and e.desired = 'present' and e.applied_generation >= e.generation and e.lease_owner is null`;

/** SQL condition: a repair may push entry `e` again. */
export const isRepairable = `e.drift in (${repairable.map((drift) => `'${drift}'`).join(', ')}) and ${isUntried}`;

/**
 * Locks at most `limit` entries of a destination that are to be repaired, because their drift was found before its decision with
 * this number. Leaves out foreign ones, those that another transaction has locked, and those that wait for anything else.
 */
export const lockRepairable = (
  sql: Sql,
  destinationId: string,
  { decisions, limit }: { decisions: number; limit: number },
): Promise<RepairableEntry[]> =>
  sql.query<RepairableEntry>(
    `select locked.* from unnest($4::text[]) as k (kind) cross join lateral (
       select e.id, array(select at from unnest(e.repaired_at) as at where at > now() - interval '${rememberedHours} hours' order by at) as "repairedAt"
         from sync.entries e
        where e.destination_id = $1 and e.drift = k.kind and e.found_after < $2 and ${isUntried}
        limit $3 for no key update skip locked) as locked limit $3`,
    [destinationId, decisions, limit, repairable],
  );

/** Returns whether an entry is left that `lockRepairable` returns, or would return without the locks of others. */
export async function hasRepairable(sql: Sql, destinationId: string, decisions: number): Promise<boolean> {
  const rows = await sql.query(
    `select found.id from unnest($3::text[]) as k (kind) cross join lateral (
       select e.id from sync.entries e
        where e.destination_id = $1 and e.drift = k.kind and e.found_after < $2 and ${isUntried} limit 1) as found limit 1`,
    [destinationId, decisions, repairable],
  );
  return rows.length > 0;
}

/** Returns the number of entries that the next decision would have repaired, of which there were `decisions`; up to `limit`. */
export async function countRepairable(
  sql: Sql,
  destinationId: string,
  decisions: number,
  limit: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from unnest($4::text[]) as k (kind) cross join lateral (
         select from sync.entries e
          where e.destination_id = $1 and e.drift = k.kind and e.found_after <= $2 and ${isUntried} limit $3) as found limit $3) as counted`,
    [destinationId, decisions, limit, repairable],
  );
  return row?.count ?? 0;
}

/**
 * Repeats the puts of these entries, which `lockRepairable` has locked, under their own generations: each external secret is
 * read, and written if it still differs. Records the repair.
 */
export async function repairEntries(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `update sync.entries
        set repair_of = drift, repaired_at = (array_append(repaired_at, now()))[greatest(coalesce(cardinality(repaired_at), 0) + 2 - ${remembered}, 1):],
            applied_generation = least(applied_generation, generation - 1), status = 'PENDING', verify = true, last_error = null,
            attempts = 0, next_attempt_at = null, requested_at = now(), updated_at = now(), priority = 2, traceparent = null,
            due_at = case when announced_at is null then now() else due_at end
      where id = any($1::uuid[])`,
    [ids],
  );
}

/** Records that these entries, which `lockRepairable` has locked, are not repaired again, and why. */
export async function contestEntries(
  sql: Sql,
  contested: readonly { id: string; error: string }[],
): Promise<void> {
  if (contested.length === 0) return;
  await sql.query(
    `update sync.entries e set drift = $3, last_error = given.error, updated_at = now()
       from unnest($1::uuid[], $2::text[]) as given (id, error) where e.id = given.id`,
    [contested.map(({ id }) => id), contested.map(({ error }) => error), 'contested' satisfies Drift],
  );
}

/**
 * Returns the number of external secrets of a destination that somebody else has changed, deleted or taken over, as found since
 * its last decision, of which there were `decisions`; counted up to `limit`. Contested ones are left out.
 */
export async function countUndecided(
  sql: Sql,
  destinationId: string,
  decisions: number,
  limit: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from unnest($4::text[]) as k (kind) cross join lateral (
         select from sync.entries e
          where e.destination_id = $1 and e.drift = k.kind and e.found_after >= $2 and ${isDrifted} limit $3) as found limit $3) as counted`,
    [destinationId, decisions, limit, [...repairable, 'foreign' satisfies Drift]],
  );
  return row?.count ?? 0;
}
