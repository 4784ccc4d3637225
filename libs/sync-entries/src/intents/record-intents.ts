import type { Sql } from '@secrets/db';
import { traceparent } from '@secrets/telemetry';
import { type Entry, entryColumns } from '../entry.ts';

// Each intent makes its entry due in the same statement. The row is the job and its own outbox: an intent is announced
// if and only if it was committed.

/**
 * Makes an entry due now, or when its lease ends. An entry whose message already waits in the queue needs no second one:
 * a thousand changes of a waiting secret are one operation.
 */
const dueNow = `due_at = case when announced_at is null then greatest(now(), lease_until) else due_at end, next_attempt_at = null, attempts = 0`;
/**
 * Order of the entries of a destination, the lowest first: requests of a user, retries, and changes found in the background.
 * The priority of a pending entry is never lowered.
 */
const priorities = { user: 0, retry: 1, background: 2 } as const;
export const allPriorities: readonly number[] = Object.values(priorities);

/** Where an intent comes from. */
export type Origin = keyof typeof priorities;

/** SQL condition: the last attempt has failed. It may have written another value than the one last pushed. */
const hasFailed = '(attempts > 0 and lease_owner is null)';

/**
 * When the first unachieved intent was recorded. While a worker has the entry, its intent counts as achieved, so that an entry
 * that changes all the time does not seem to wait forever.
 */
const firstRequestedAt = `requested_at = case when applied_generation < generation and lease_owner is null then requested_at else now() end`;

/**
 * SQL assignments that record a new intent of an entry. `verify` is an SQL condition: whether the external secret is read even if
 * nothing has changed here. After a failed attempt, it is read in any case, because what it holds is uncertain. No earlier
 * achievement counts for the new intent, even if commits were lost. A set, a retry and a new version also forget earlier repairs.
 * `trace` is SQL of the trace that the intent belongs to.
 */
export const newIntent = (origin: Origin, verify = 'false', trace = 'null'): string =>
  `generation = greatest(generation, applied_generation) + 1, status = 'PENDING', verify = verify or ${verify} or ${hasFailed},
   pushed_hash = case when not ${hasFailed} then pushed_hash end, fault = null, last_error = null, updated_at = now(), ${dueNow}, ${firstRequestedAt},
   traceparent = ${trace}, repair_of = null${origin === 'background' ? '' : ', repaired_at = null'},
   priority = case when applied_generation < generation then least(priority, ${priorities[origin]}) else ${priorities[origin]} end`;

/**
 * SQL of an array: the IDs of the entries with this condition. Locks their rows in the order of the IDs, so that two intents for
 * the same entries cannot deadlock.
 */
const lockedInOrder = (condition: string): string =>
  `array(select id from sync.entries where ${condition} order by id for no key update)`;

/** An external secret that an association needs. */
export interface NewEntry {
  subKey: string;
  externalName: string;
  collisionKey: string;
  /** The name that an earlier version gave to it, if it is another one. */
  formerName?: string;
}

/** An entry that an association needs. */
interface NewEntryOf extends NewEntry {
  associationId: string;
}

/**
 * Adds entries to associations of one destination, in the order of their names, so that two associations that need the same names
 * cannot deadlock. Throws a unique violation if a name is taken in the destination.
 */
export async function insertEntriesOf(
  sql: Sql,
  destination: { destinationId: string; destinationType: string },
  entries: readonly NewEntryOf[],
  { overwrite = false, origin = 'user' }: { overwrite?: boolean; origin?: Origin } = {},
): Promise<Entry[]> {
  if (entries.length === 0) return [];
  return sql.query<Entry>(
    `insert into sync.entries (association_id, destination_id, destination_type, overwrite, sub_key, external_name, collision_key, priority, traceparent)
     select association_id, $1, $2, $3, sub_key, external_name, collision_key, $8, $9
       from unnest($4::uuid[], $5::text[], $6::text[], $7::text[]) as wanted (association_id, sub_key, external_name, collision_key)
      order by collision_key
     returning ${entryColumns}`,
    [
      destination.destinationId,
      destination.destinationType,
      overwrite,
      entries.map((entry) => entry.associationId),
      entries.map((entry) => entry.subKey),
      entries.map((entry) => entry.externalName),
      entries.map((entry) => entry.collisionKey),
      priorities[origin],
      traceparent() ?? null,
    ],
  );
}

/** Adds entries to one association, like `insertEntriesOf`. */
export const insertEntries = (
  sql: Sql,
  association: { id: string; destinationId: string; destinationType: string },
  entries: readonly NewEntry[],
  given: { overwrite?: boolean; origin?: Origin } = {},
): Promise<Entry[]> =>
  insertEntriesOf(
    sql,
    association,
    entries.map((entry) => ({ ...entry, associationId: association.id })),
    given,
  );

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

/** An entry whose external secret another key takes over. */
export interface HandedOver {
  id: string;
  subKey: string;
  /** The name to use; the destination treats it as equal to the entry's. */
  externalName: string;
}

/**
 * Assigns these entries to other keys, whose values are then pushed. The recorded state of their external secrets is kept. A
 * worker that has one of them finishes the put or removal of the earlier key, and the entry is due again.
 */
export async function handOverEntries(
  sql: Sql,
  handedOver: readonly HandedOver[],
  {
    overwrite = false,
    verify = false,
    origin = 'user',
  }: { overwrite?: boolean; verify?: boolean; origin?: Origin } = {},
): Promise<void> {
  if (handedOver.length === 0) return;
  await sql.query(
    `update sync.entries e
        set sub_key = given.sub_key, external_name = given.external_name, desired = 'present', waits_for = null, overwrite = overwrite or $2,
            ${newIntent(origin, '$3', '$4')}
       from unnest($1::uuid[], $5::text[], $6::text[]) as given (id, sub_key, external_name)
      where e.id = given.id and e.id = any(${lockedInOrder('id = any($1::uuid[])')})`,
    [
      handedOver.map(({ id }) => id),
      overwrite,
      verify,
      traceparent() ?? null,
      handedOver.map(({ subKey }) => subKey),
      handedOver.map(({ externalName }) => externalName),
    ],
  );
}

/** Records which entry will replace others, before their removal is requested. They are not pushed until it is achieved. */
export async function recordReplacements(
  sql: Sql,
  entries: readonly { id: string; waitsFor: string | null }[],
): Promise<void> {
  const replaced = entries.filter(({ waitsFor }) => waitsFor !== null);
  if (replaced.length === 0) return;
  await sql.query(
    `update sync.entries e set waits_for = given.waits_for from unnest($1::uuid[], $2::uuid[]) as given (id, waits_for)
      where e.id = given.id and e.desired = 'present' and e.id = any(${lockedInOrder('id = any($1::uuid[])')})`,
    [replaced.map(({ id }) => id), replaced.map(({ waitsFor }) => waitsFor)],
  );
}

export interface RemovalIntent {
  origin?: Origin;
  /**
   * Whether the external secret stays recoverable where the store has a recovery window, because its removal was not requested
   * in sync itself.
   */
  isRecoverable?: boolean;
  /** Whether the external secrets stay in the store, as ones that belong to no destination. The entries then wait for nothing. */
  keep?: boolean;
}

/** Requests the removal of these entries. `waitsFor` is the entry that replaces an entry and must be achieved first. */
export async function requestRemoval(
  sql: Sql,
  entries: readonly { id: string; waitsFor: string | null }[],
  { origin = 'user', isRecoverable = false, keep = false }: RemovalIntent = {},
): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(
    `update sync.entries e set desired = 'absent', is_recoverable = $4, waits_for = given.waits_for, ${newIntent(origin, 'false', '$3')}
       from (select * from unnest($1::uuid[], $2::uuid[]) as g (id, waits_for)
              where g.id = any(${lockedInOrder('id = any($1::uuid[])')})) as given
      where e.id = given.id`,
    [
      entries.map(({ id }) => id),
      entries.map(({ id, waitsFor }) => (keep ? id : waitsFor)),
      traceparent() ?? null,
      isRecoverable,
    ],
  );
}
