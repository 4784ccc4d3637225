import { expect, test } from '@jest/globals';
import { errorCode } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import { failEntry, insertEntries, requestPut, requestRemoval, retryFailed } from '../src/index.ts';
import { destinationType, entriesForTest, holdEntry, rejected } from './entries-for-test.ts';

const { db, add, claim, associationId, destinationId } = entriesForTest();

/** Resolves when this many statements of the database wait for a lock. */
const untilWaiting = (count: number) =>
  eventually(async () => {
    const [row] = await db.query<{ count: number }>(
      `select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(row!.count).toBe(count);
  });

/** Adds failed entries with names in the reverse order of their IDs. */
async function addFailed(): Promise<string[]> {
  const ids = await Promise.all(['a', 'b', 'c'].map(add));
  ids.sort();
  for (const [index, id] of ids.entries()) {
    const held = (await claim(id))!;
    await failEntry(db, held, rejected);
    await db.query('update sync.entries set collision_key = $2 where id = $1', [id, `${9 - index}`]);
  }
  return ids;
}

test.each([
  ['another put', (ids: string[]) => requestPut(db, ids.toReversed())],
  [
    'a removal',
    (ids: string[]) =>
      requestRemoval(
        db,
        ids.toReversed().map((id) => ({ id, waitsFor: null })),
      ),
  ],
])(
  'a retry of failed entries does not wait for %s of the same entries, so they cannot deadlock',
  async (_, request) => {
    const ids = await addFailed();
    await db.query('update sync.destinations set retry_initiated_at = clock_timestamp()');
    const hold = await holdEntry(db, ids[1]!);
    const waiting = request(ids);
    await untilWaiting(1);
    await retryFailed(db, destinationId(), 100);
    await hold.release();
    await waiting;
  },
);

test('two associations that need the same names in another order do not deadlock', async () => {
  const place = { id: associationId(), destinationId: destinationId(), destinationType };
  const named = (names: string[]) =>
    names.map((name) => ({ subKey: name, externalName: name, collisionKey: name }));
  const inserts = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => {
      const names = named(Array.from({ length: 200 }, (_, name) => `n${name}`));
      return insertEntries(db, place, index % 2 === 0 ? names : names.toReversed(), false);
    }),
  );
  const codes = inserts.flatMap((one) => (one.status === 'rejected' ? [errorCode(one.reason)] : []));
  expect(codes).toEqual(Array(19).fill('23505'));
});
