import type { Sql } from '@secrets/db';
import { type Epoch, epochSql, parseEpoch } from './epoch.ts';

/** One change: its ID, null if a previous version of login recorded it, and the tags of what it affects. */
type RecordedChange = [id: string | null, tags: string[]];

/** The newest changes. */
export interface NewestChanges {
  epoch: Epoch;
  /**
   * The change of the given epoch, if it is still recorded, and all later ones, oldest first; null if there are none, or too
   * many.
   */
  changes: RecordedChange[] | null;
}

/** Reading more changes would take longer than reading the affected values again. */
const maxChanges = 1_000;

// In most cases nothing has changed, and the subquery is not executed.
const newestChanges = `
  select ${epochSql('e')} as epoch, case when e.value > $1 and e.value - $1 <= ${maxChanges} then (
    select jsonb_agg(jsonb_build_array(c.change_id, c.concerns) order by c.epoch) from login.access_changes c
    where c.epoch >= $1 and c.epoch <= e.value
  ) end as changes
  from login.access_epoch e`;

/** Reads the changes that were committed after the epoch `since`; all of them if it is empty. */
export async function readChanges(sql: Sql, since: Epoch): Promise<NewestChanges> {
  const [row] = await sql.query<NewestChanges>(newestChanges, [parseEpoch(since).number]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return row;
}

/** A committed change, and the epoch after it. */
export interface AccessChange {
  epoch: Epoch;
  tags: ReadonlySet<string>;
}

/**
 * Returns the changes that followed the epoch `since`, oldest first. Undefined if their tags are not known, or `since`
 * is not in the history of this database.
 */
export function changesSince(since: Epoch, { epoch, changes }: NewestChanges): AccessChange[] | undefined {
  const [from, to] = [parseEpoch(since), parseEpoch(epoch)];
  const [first, ...later] = changes ?? [];
  if (from.database !== to.database || first?.[0] !== from.changeId) return undefined;
  if (later.length !== to.number - from.number || later.some(([id]) => id === null)) return undefined;
  return later.map(([id, tags], index) => ({
    epoch: `${from.number + index + 1} ${id} ${from.database}`,
    tags: new Set(tags),
  }));
}
