/** SQL condition: entry `w` is not achieved yet, so the entries that wait for it must not be claimed. */
export const unachieved = `w.status not in ('SYNCED', 'UNSYNCED')`;

/**
 * SQL of an array of IDs: those of these entries that the enclosing statement may write. A single entry may be waited
 * for. Of several, those that another transaction has locked are left out: a statement that holds one row while it
 * waits for another risks a deadlock.
 */
export const locked = (parameter: string, entries: readonly unknown[]): string =>
  entries.length > 1
    ? `array(select id from sync.entries where id = any(${parameter}::uuid[]) for update skip locked)`
    : `${parameter}::uuid[]`;
