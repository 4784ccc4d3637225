import type { Db, Tx } from '@secrets/db';

/**
 * Runs a change that takes rights away. The epoch grows in the same transaction, so that from its commit on nobody
 * who keeps tokens or policies in memory uses what was. Last statement: its row is locked as shortly as possible.
 */
export const revoking = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    const result = await work(tx);
    await tx.query('update login.access_epoch set value = value + 1');
    return result;
  });
