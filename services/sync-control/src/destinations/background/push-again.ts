import type { Db } from '@secrets/db';
import { type DestinationDescription, fieldsThat, isPushed } from '@secrets/destinations';
import type { Json } from '@secrets/domain';
import { pushSomeAgain } from '@secrets/sync-entries';
import { lockMarked, readPush, recordPushPosition } from '../../queries/destinations/destination-marks.ts';

const pageSize = 1_000;

/** Whether a changed setting must reach the external secrets that were pushed before, such as changed tags or another key. */
export const isPushNeeded = (
  description: DestinationDescription,
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): boolean =>
  fieldsThat(description, isPushed).some((field) => asText(before[field]) !== asText(after[field]));

/** Two texts are equal if the values are, whatever the order of their keys. */
function asText(value: Json | undefined): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return JSON.stringify(value ?? null);
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Pushes one page of a destination's entries again. Returns whether there may be another page. */
export const advancePush = (db: Db, destinationId: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'push_initiated_at'))) return false;
    const { position, ...scope } = await readPush(tx, destinationId);
    const last = await pushSomeAgain(tx, destinationId, position, pageSize, scope);
    await recordPushPosition(tx, destinationId, last);
    return last !== null;
  });
