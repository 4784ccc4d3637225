import type { Db, Tx } from '@secrets/db';

/**
 * Runs a change that may withdraw access. The epoch moves in the same transaction, so that from its commit on, no
 * process that caches tokens, policies or login targets uses an old one. The epoch is the last statement, because its
 * row is locked until the commit.
 */
export const revoking = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    const result = await work(tx);
    await tx.query('update login.access_epoch set value = value + 1');
    return result;
  });

/** Revokes a token and, by cascade, every token created with it. */
export const revokeToken = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('delete from login.tokens where accessor = $1', [accessor]);
  });

/** Revokes one token; its children become orphans. */
export const revokeOrphan = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('update login.tokens set parent_accessor = null where parent_accessor = $1', [accessor]);
    await tx.query('delete from login.tokens where accessor = $1', [accessor]);
  });

const isUnusable = '(expires_at <= now() or uses_left = 0)';

/** Deletes up to `limit` tokens that have expired or are used up, with their children. Returns their number. */
export async function deleteExpiredTokens(db: Db, limit: number): Promise<number> {
  const due = await db.query(`select 1 from login.tokens where ${isUnusable} limit 1`);
  if (due.length === 0) return 0;
  return revoking(db, async (tx) => {
    const deleted = await tx.query(
      `delete from login.tokens where hash in (
         select hash from login.tokens where ${isUnusable} limit $1 for update skip locked
       ) returning 1`,
      [limit],
    );
    return deleted.length;
  });
}
