import type { Sql } from '@secrets/db';
import { traceparent } from '@secrets/telemetry';
import { type Entry, entryColumns } from './entry.ts';

// Each intent makes its entry due in the same statement. The row is the job and its own outbox: an intent is announced
// if and only if it was committed.

/**
 * Makes an entry due now, or when its lease ends. An entry whose message already waits in the queue needs no second one:
 * a thousand changes of a waiting secret are one operation.
 */
const dueNow = `due_at = case when announced_at is null then greatest(now(), lease_until) else due_at end, next_attempt_at = null, attempts = 0`;
/**
 * Which entries of a destination go first: what a user asked for, retries, and what was found in the background. An entry that is pending
 * already is never put back.
 */
const priorities = { user: 0, retry: 1, background: 2 } as const;
export const allPriorities: readonly number[] = Object.values(priorities);

/** Where an intent comes from. */
export type Origin = keyof typeof priorities;

/** SQL condition: the last attempt has failed. It may have written another value than the one last pushed. */
const hasFailed = '(attempts > 0 and lease_owner is null)';

/**
 * When the first intent was recorded that is not achieved yet. A worker that has the entry is achieving the earlier ones, so that an entry
 * which changes all the time does not seem to wait forever.
 */
const firstRequestedAt = `requested_at = case when applied_generation < generation and lease_owner is null then requested_at else now() end`;

/**
 * SQL assignments that record a new intent of an entry. `verify` is an SQL condition: whether the external secret is read even if nothing has changed
 * here. After a failed attempt, it is read in any case, because what it holds is uncertain. `trace` is SQL of the trace that the intent belongs to.
 */
export const newIntent = (origin: Origin, verify = 'false', trace = 'null'): string =>
  `generation = generation + 1, status = 'PENDING', verify = verify or ${verify} or ${hasFailed},
   pushed_hash = case when not ${hasFailed} then pushed_hash end, fault = null, last_error = null, updated_at = now(), ${dueNow}, ${firstRequestedAt},
   traceparent = ${trace},
   priority = case when applied_generation < generation then least(priority, ${priorities[origin]}) else ${priorities[origin]} end`;

/**
 * SQL of an array of IDs: those of the entries with this condition, whose rows it locks in the order of their IDs. Two
 * intents for the same entries cannot deadlock then.
 */
const lockedInOrder = (condition: string): string =>
  `array(select id from sync.entries where ${condition} order by id for no key update)`;

/** An external secret that an association needs. */
export interface NewEntry {
  subKey: string;
  externalName: string;
  collisionKey: string;
}

/**
 * Adds entries to an association, in the order of their names, so that two associations that need the same names cannot
 * deadlock. Throws a unique violation if a name is taken in the destination.
 */
export async function insertEntries(
  sql: Sql,
  association: { id: string; destinationId: string; destinationType: string },
  entries: readonly NewEntry[],
  { overwrite = false, origin = 'user' }: { overwrite?: boolean; origin?: Origin } = {},
): Promise<Entry[]> {
  if (entries.length === 0) return [];
  return sql.query<Entry>(
    `insert into sync.entries (association_id, destination_id, destination_type, overwrite, sub_key, external_name, collision_key, priority, traceparent)
     select $1, $2, $3, $4, sub_key, external_name, collision_key, $8, $9
       from unnest($5::text[], $6::text[], $7::text[]) as wanted (sub_key, external_name, collision_key)
      order by collision_key
     returning ${entryColumns}`,
    [
      association.id,
      association.destinationId,
      association.destinationType,
      overwrite,
      entries.map((entry) => entry.subKey),
      entries.map((entry) => entry.externalName),
      entries.map((entry) => entry.collisionKey),
      priorities[origin],
      traceparent() ?? null,
    ],
  );
}

/** Requests that these entries are pushed again, after a set or because their secret changed. */
export async function requestPut(
  sql: Sql,
  entryIds: readonly string[],
  {
    overwrite = false,
    verify = false,
    origin = 'user',
  }: { overwrite?: boolean; verify?: boolean; origin?: Origin } = {},
): Promise<void> {
  if (entryIds.length === 0) return;
  await sql.query(
    `update sync.entries set desired = 'present', waits_for = null, overwrite = overwrite or $2, ${newIntent(origin, '$3', '$4')}
      where id = any(${lockedInOrder('id = any($1::uuid[])')})`,
    [entryIds, overwrite, verify, traceparent() ?? null],
  );
}

/** Requests the removal of these entries. `waitsFor` is the entry that replaces an entry and must be achieved first. */
export async function requestRemoval(
  sql: Sql,
  entries: readonly { id: string; waitsFor: string | null }[],
  origin: Origin = 'user',
): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(
    `update sync.entries e set desired = 'absent', waits_for = given.waits_for, ${newIntent(origin, 'false', '$3')}
       from unnest($1::uuid[], $2::uuid[]) as given (id, waits_for)
      where e.id = given.id and e.id = any(${lockedInOrder('id = any($1::uuid[])')})`,
    [entries.map(({ id }) => id), entries.map(({ waitsFor }) => waitsFor), traceparent() ?? null],
  );
}
