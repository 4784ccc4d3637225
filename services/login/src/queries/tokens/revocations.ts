import { changeTag } from '@secrets/access';
import type { Db, Sql, Tx } from '@secrets/db';

/** The tags of the caches that a change affects (`changeTag`), known before it or from its result. */
type Tags<T> = readonly string[] | ((result: T) => readonly string[]);

/**
 * Runs a change that may withdraw access. The change is recorded in the same transaction, so that from its commit on,
 * no process that caches tokens, policies or login targets uses an old one (docs/adr/0004-token-cache-and-epoch.md).
 * The record is the last statement, because the row of the epoch is locked until the commit.
 * @param tags those of the caches that the change affects; by default all, which empties every cache of every gateway
 */
export const revoking = <T>(db: Db, work: (tx: Tx) => Promise<T>, tags?: Tags<T>): Promise<T> =>
  db.transaction(async (tx) => {
    const result = await work(tx);
    if (tags === undefined) await moveEpoch(tx);
    else await recordChange(tx, typeof tags === 'function' ? tags(result) : tags);
    return result;
  });

/** Records a change that affects every cache. */
async function moveEpoch(sql: Sql): Promise<void> {
  await sql.query('update login.access_epoch set value = value + 1');
}

/** SQL that records a change with an array of the tags that it affects, to follow `with`. */
export const recordedChangeSql = (tags: string, condition = 'true'): string => `moved as (
    update login.access_epoch set value = value + 1 where ${condition} returning value, change_id
  ), recorded as (
    insert into login.access_changes (epoch, change_id, concerns) select value, change_id, ${tags} from moved
  )`;

/** Records a change, in the transaction that makes it. */
export async function recordChange(sql: Sql, tags: readonly string[]): Promise<void> {
  await sql.query(`with ${recordedChangeSql('$1::text[]')} select 1`, [tags]);
}

/** Number of changes that are kept. A gateway that has missed more of them empties its caches. */
const keptChanges = 10_000;

/** Deletes changes that every process has taken into account, or will not find complete in any case. */
export async function deleteOldChanges(sql: Sql): Promise<void> {
  await sql.query(
    'delete from login.access_changes where epoch <= (select value - $1::bigint from login.access_epoch)',
    [keptChanges],
  );
}

// A revoked token is one that expired in 1970. It cannot be renewed, and neither can its descendants, which expire with
// it. The sweep deletes them (delete-tokens.ts).
const revokeText = `update login.tokens set expires_at = to_timestamp(0), orphans_children = $2
  where accessor = $1 and (expires_at is null or expires_at > now())`;

/** Ends a token and every token created with it, in a transaction that records the change. */
export async function endToken(tx: Tx, accessor: string): Promise<void> {
  await tx.query(revokeText, [accessor, false]);
}

/** Revokes a token and every token created with it. Changes one row, however many these are. */
export const revokeToken = (db: Db, accessor: string): Promise<void> =>
  revoking(db, (tx) => endToken(tx, accessor), [changeTag.token(accessor)]);

/** Revokes one token; its children become orphans. Changes one row as well. */
export const revokeOrphan = (db: Db, accessor: string): Promise<void> =>
  revoking(
    db,
    async (tx) => {
      await tx.query(revokeText, [accessor, true]);
    },
    [changeTag.token(accessor)],
  );
