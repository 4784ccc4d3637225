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

// A revoked token is one that expired in 1970. It cannot be renewed, and neither can its descendants, which expire with it. The sweep deletes
// them (delete-tokens.ts).
const revokeText = `update login.tokens set expires_at = to_timestamp(0), orphans_children = $2
  where accessor = $1 and (expires_at is null or expires_at > now())`;

/** Revokes a token and every token created with it. Changes one row, however many these are. */
export const revokeToken = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query(revokeText, [accessor, false]);
  });

/** Revokes one token; its children become orphans. Changes one row as well. */
export const revokeOrphan = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query(revokeText, [accessor, true]);
  });
