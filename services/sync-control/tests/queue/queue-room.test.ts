import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { queueRoom } from '../../src/queue/queue-room.ts';

let db: Db;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());

const capacityIs = (capacity: number) => db.query('update sync.config set queue_capacity = $1', [capacity]);

test('refuses more operations than the capacity, and states when to try again', async () => {
  await capacityIs(10);
  const room = queueRoom(db);
  expect(await room.whyFull(10)).toBeUndefined();
  expect(await room.whyFull(11)).toMatchObject({ kind: 'queue_full', retryAfterSeconds: 5 });
});

test('counts at most once a second above 10,000, and adds what it has admitted since', async () => {
  await capacityIs(20_000);
  let now = 0;
  const room = queueRoom(db, () => now);
  expect(await room.whyFull(15_000)).toBeUndefined();
  expect(await room.whyFull(6_000)).toMatchObject({ kind: 'queue_full' });
  now += 1_001; // nothing was written
  expect(await room.whyFull(6_000)).toBeUndefined();
});

test('counts what is pending without what it has only admitted, at most once a second above 10,000', async () => {
  await capacityIs(20_000);
  let now = 0;
  const { db: counting, counted, open } = countingDb();
  open();
  const room = queueRoom(counting, () => now);
  await room.whyFull(15_000);
  expect([await room.countPending(20_000), counted.counts]).toEqual([0, 1]);
  now += 1_001;
  expect([await room.countPending(20_000), counted.counts]).toEqual([0, 2]);
  expect([await room.countPending(10), await room.countPending(10), counted.counts]).toEqual([0, 0, 4]);
});

/** The database, whose counts are counted and wait for the gate. */
function countingDb() {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const counted = { counts: 0, others: 0 };
  const counting: Db = {
    ...db,
    query: async <Row>(text: string, params?: readonly unknown[]) => {
      if (text.includes('count(')) {
        counted.counts += 1;
        await gate;
      }
      const rows = await db.query<Row>(text, params);
      counted.others += 1;
      return rows;
    },
  };
  return { db: counting, counted, open };
}

test.each([10, 20_000])(
  'counts twice at most for simultaneous requests, with a capacity of %d',
  async (capacity) => {
    await capacityIs(capacity);
    const { db: counting, counted, open } = countingDb();
    const room = queueRoom(counting);
    const answers = Promise.all(Array.from({ length: 40 }, () => room.whyFull(0)));
    while (counted.others < 40) await setImmediate(); // each reads the capacity first
    open();
    expect(await answers).toEqual(Array(40).fill(undefined));
    expect(counted.counts).toBeLessThanOrEqual(2);
  },
);

test('does not wait for the refresh of an estimate that has room', async () => {
  await capacityIs(20_000);
  let now = 0;
  const { db: counting, counted, open } = countingDb();
  const gated = queueRoom(counting, () => now);
  const first = gated.whyFull(1);
  while (counted.counts === 0) await setImmediate();
  open();
  await first;
  now += 1_001;
  const blocked = countingDb();
  counting.query = blocked.db.query;
  expect(await gated.whyFull(1)).toBeUndefined();
  expect(await gated.whyFull(1)).toBeUndefined();
  expect(blocked.counted.counts).toBe(1);
  blocked.open();
});
