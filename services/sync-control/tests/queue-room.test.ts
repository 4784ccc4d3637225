import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { queueRoom } from '../src/queue/queue-room.ts';

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
