/** SQL condition: entry `w` is not achieved yet, so the entries that wait for it must not be claimed. */
export const unachieved = `w.status not in ('SYNCED', 'UNSYNCED')`;

/**
 * SQL of an update that makes entries due that wait for those in `ids`, which are achieved or deleted. `ids` is SQL of an array.
 * It leaves out locked entries, so that it cannot deadlock. It misses none by that: whoever locks one makes it due, or postpones
 * it only after verifying that the other entry is not achieved (`postponeEntry`).
 */
export const wakeWaiting = (ids: string): string =>
  `update sync.entries s
      set due_at = case when s.announced_at is null and s.applied_generation < s.generation
                     then greatest(now(), s.lease_until, s.next_attempt_at) else s.due_at end,
          last_error = null
    where s.id = any(array(select id from sync.entries where waits_for = any(${ids}) for update skip locked))`;

/** SQL of an array of IDs: those of these entries that no other transaction has locked. */
export const notLocked = (parameter: string): string =>
  `array(select id from sync.entries where id = any(${parameter}::uuid[]) for update skip locked)`;

/**
 * SQL condition: an entry that is looked up by its ID has a lease. Not `lease_until`: Postgres might then scan the index of
 * all outstanding entries instead, which it does if that index was small when the table was analysed.
 */
export const isLeased = 'lease_owner is not null';

/**
 * SQL: entry `e` is enqueued or in progress. Once it is due, it is neither: its scheduler or its worker died, or its message was lost, and it
 * must not keep itself out of the window. Nor is it while it only waits after a lease that has ended.
 */
export const isOutstanding = `((e.announced_at is not null and (e.due_at is null or e.due_at > now())) or e.lease_until > now())`;
