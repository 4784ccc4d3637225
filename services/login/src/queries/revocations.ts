import { concern } from '@secrets/access';
import type { Db, Sql, Tx } from '@secrets/db';

/** What a change concerns (`concern`), if that is known before or from its result. */
type Concerns<T> = readonly string[] | ((result: T) => readonly string[]);

/**
 * Runs a change that may withdraw access. The change is recorded in the same transaction, so that from its commit on, no
 * process that caches tokens, policies or login targets uses an old one (docs/adr/0004-token-cache-and-epoch.md). The record is the last
 * statement, because the row of the epoch is locked until the commit.
 * @param concerns by default everything, which empties every cache of every gateway
 */
export const revoking = <T>(db: Db, work: (tx: Tx) => Promise<T>, concerns?: Concerns<T>): Promise<T> =>
  db.transaction(async (tx) => {
    const result = await work(tx);
    if (concerns === undefined) await moveEpoch(tx);
    else await recordChange(tx, typeof concerns === 'function' ? concerns(result) : concerns);
    return result;
  });

/** Records a change that concerns everything. */
async function moveEpoch(sql: Sql): Promise<void> {
  await sql.query('update login.access_epoch set value = value + 1');
}

/** SQL that records a change with an array of what it concerns, to follow `with`. */
export const recordedChangeSql = (concerns: string, condition = 'true'): string => `moved as (
    update login.access_epoch set value = value + 1 where ${condition} returning value
  ), recorded as (
    insert into login.access_changes (epoch, concerns) select value, ${concerns} from moved
  )`;

/** Records a change, in the transaction that makes it. */
export async function recordChange(sql: Sql, concerns: readonly string[]): Promise<void> {
  await sql.query(`with ${recordedChangeSql('$1::text[]')} select 1`, [concerns]);
}

/** How many changes are kept. A gateway that has not served a request for longer drops everything. */
const keptChanges = 10_000;

/** Deletes changes that every process has taken into account, or will not find complete in any case. */
export async function deleteOldChanges(sql: Sql): Promise<void> {
  await sql.query(
    'delete from login.access_changes where epoch <= (select value - $1::bigint from login.access_epoch)',
    [keptChanges],
  );
}

// A revoked token is one that expired in 1970. It cannot be renewed, and neither can its descendants, which expire with it. The sweep deletes
// them (delete-tokens.ts).
const revokeText = `update login.tokens set expires_at = to_timestamp(0), orphans_children = $2
  where accessor = $1 and (expires_at is null or expires_at > now())`;

/** Revokes a token and every token created with it. Changes one row, however many these are. */
export const revokeToken = (db: Db, accessor: string): Promise<void> =>
  revoking(
    db,
    async (tx) => {
      await tx.query(revokeText, [accessor, false]);
    },
    [concern.token(accessor)],
  );

/** Revokes one token; its children become orphans. Changes one row as well. */
export const revokeOrphan = (db: Db, accessor: string): Promise<void> =>
  revoking(
    db,
    async (tx) => {
      await tx.query(revokeText, [accessor, true]);
    },
    [concern.token(accessor)],
  );
