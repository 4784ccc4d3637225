/**
 * Identifies the newest change of access at the time of a read. Equal texts mean that no change was committed in
 * between, and that none was lost either: the number of a change is used again after a failover that lost it, or a
 * restored backup, but the rest of the text is not.
 */
export type Epoch = string;

/**
 * SQL for the epoch of a row of `login.access_epoch`: its number, the random identity of the change, the table, which a
 * restored backup creates again, and the start of the server, so that a failover that lost only new tokens counts as
 * well.
 */
export const epochSql = (row: string): string =>
  `concat_ws(' ', ${row}.value, ${row}.change_id, ${row}.tableoid, extract(epoch from pg_postmaster_start_time()))`;

/** Splits an epoch. Numbers can be compared only if `database` is the same. */
export function parseEpoch(epoch: Epoch) {
  const [number, changeId = '', ...database] = epoch.split(' ');
  return { number: Number(number), changeId, database: database.join(' ') };
}
