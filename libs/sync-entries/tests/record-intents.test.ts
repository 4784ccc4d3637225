import { describe, expect, test } from '@jest/globals';
import { errorCode } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import { failEntry, insertEntries, requestPut, requestRemoval, retryFailed } from '../src/index.ts';
import { destinationType, entriesForTest, holdEntry, pushed, rejected } from './entries-for-test.ts';

const { db, add, claim, complete, associationId, destinationId } = entriesForTest();

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
      return insertEntries(db, place, index % 2 === 0 ? names : names.toReversed());
    }),
  );
  const codes = inserts.flatMap((one) => (one.status === 'rejected' ? [errorCode(one.reason)] : []));
  expect(codes).toEqual(Array(19).fill('23505'));
});

describe('what a user asked for goes before retries, and those before what reconciliation found', () => {
  const priorityOf = async (id: string): Promise<number> =>
    (await db.query<{ priority: number }>('select priority from sync.entries where id = $1', [id]))[0]!
      .priority;
  const achieved = async (): Promise<string> => {
    const id = await add();
    await complete((await claim(id))!, pushed);
    return id;
  };
  const foundBy = { origin: 'background' } as const;

  test('the last intent of an achieved entry decides', async () => {
    const id = await achieved();
    await requestPut(db, [id], foundBy);
    expect(await priorityOf(id)).toBe(2);
    await complete((await claim(id))!, pushed);
    await requestPut(db, [id]);
    expect(await priorityOf(id)).toBe(0);
    await complete((await claim(id))!, pushed);
    await requestRemoval(db, [{ id, waitsFor: null }], { origin: 'background' });
    expect(await priorityOf(id)).toBe(2);
  });

  test('a user puts a pending entry forward, and reconciliation never puts one back', async () => {
    const id = await achieved();
    await requestPut(db, [id], foundBy);
    await requestPut(db, [id]);
    expect(await priorityOf(id)).toBe(0);
    await requestPut(db, [id], foundBy);
    await requestRemoval(db, [{ id, waitsFor: null }], { origin: 'background' });
    expect(await priorityOf(id)).toBe(0);
  });

  test('a failed attempt is a retry, until a user asks again', async () => {
    const id = await achieved();
    await requestPut(db, [id], foundBy);
    await failEntry(db, (await claim(id))!, { ...rejected, retryInSeconds: 0 });
    expect(await priorityOf(id)).toBe(1);
    await requestPut(db, [id]);
    expect(await priorityOf(id)).toBe(0);
  });

  test('entries that failed in a destination are retried after what users ask for', async () => {
    const ids = await addFailed();
    await db.query('update sync.destinations set retry_initiated_at = clock_timestamp()');
    await retryFailed(db, destinationId(), 100);
    expect(await Promise.all(ids.map(priorityOf))).toEqual([1, 1, 1]);
  });

  test('a new entry has the priority of what added it', async () => {
    const place = { id: associationId(), destinationId: destinationId(), destinationType };
    const named = (name: string) => [{ subKey: name, externalName: name, collisionKey: name }];
    const [asked] = await insertEntries(db, place, named('asked'));
    const [found] = await insertEntries(db, place, named('found'), foundBy);
    expect([await priorityOf(asked!.id), await priorityOf(found!.id)]).toEqual([0, 2]);
  });
});
