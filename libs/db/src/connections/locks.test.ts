import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db, Tx } from '../db.ts';
import { createTestDb, type TestDb } from '../testing.ts';
import { openPostgres } from './open-postgres.ts';

let db: TestDb;

beforeAll(async () => {
  db = await createTestDb();
  await db.query('create table counters (id int primary key, count int not null)');
});
afterAll(() => db?.close());
beforeEach(async () => {
  await db.query('delete from counters');
  await db.query('insert into counters values (1, 0), (2, 0)');
});

const increment = (tx: Tx, id: number) =>
  tx.query('update counters set count = count + 1 where id = $1', [id]);

/** Increments both counters in this order, and calls `between` after the first one. */
const incrementBoth = (first: number, second: number, between: () => Promise<void>) =>
  db.transaction(async (tx) => {
    await increment(tx, first);
    await between();
    await increment(tx, second);
  });

/** A function that resolves when it was called twice. */
function meeting(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === 2) resolve();
    return promise;
  };
}

test('runs a transaction again that was rolled back because of a deadlock', async () => {
  const meet = meeting();
  await Promise.all([incrementBoth(1, 2, meet), incrementBoth(2, 1, meet)]);
  expect(await db.query('select id, count from counters order by id')).toEqual([
    { id: 1, count: 2 },
    { id: 2, count: 2 },
  ]);
});

test('throws the second deadlock of a transaction', async () => {
  let runs = 0;
  const work = db.transaction(async () => {
    runs += 1;
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
  });
  await expect(work).rejects.toMatchObject({ code: '40P01' });
  expect(runs).toBe(2);
});

test('throws unavailable, with a time to try again, if a lock is not released in time', async () => {
  const impatient: Db = openPostgres({ url: db.url, lockTimeoutMs: 50 });
  await db.transaction(async (tx) => {
    await increment(tx, 1);
    const blocked = impatient.transaction((other) => increment(other, 1));
    await expect(blocked).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
  });
  await impatient.close();
});
