/** SQL condition: entry `w` is not achieved yet, so the entries that wait for it must not be claimed. */
export const unachieved = `w.status not in ('SYNCED', 'UNSYNCED')`;

/** SQL of an array of IDs: those of these entries that no other transaction has locked. */
export const notLocked = (parameter: string): string =>
  `array(select id from sync.entries where id = any(${parameter}::uuid[]) for update skip locked)`;

/**
 * SQL condition: an entry that is looked up by its ID has a lease. Not by `lease_until`: Postgres would consider to look through
 * the index of all outstanding entries instead, and does so if that was small when the table was analysed.
 */
export const isLeased = 'lease_owner is not null';
