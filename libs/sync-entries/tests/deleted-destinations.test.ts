import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { areDeletedDestinations, forgetDeletedDestinations } from '../src/index.ts';
import { entriesForTest } from './entries-for-test.ts';

const { db, destinationId } = entriesForTest();

const deletedBefore = async (days: number) => {
  const id = randomUUID();
  await db.query(
    `insert into sync.deleted_destinations (id, deleted_at) values ($1, now() - $2 * interval '1 day')`,
    [id, days],
  );
  return id;
};

test('a destination is known as deleted for two years, and then forgotten', async () => {
  const id = destinationId();
  await db.query('delete from sync.destinations where id = $1', [id]);
  const [recent, old] = [await deletedBefore(729), await deletedBefore(731)];
  expect(await areDeletedDestinations(db, [id, recent, old])).toBe(true);
  expect(await forgetDeletedDestinations(db, 10)).toBe(1);
  expect(await areDeletedDestinations(db, [id, recent])).toBe(true);
  expect(await areDeletedDestinations(db, [old])).toBe(false);
});

test('destinations are forgotten in pages, the earliest first', async () => {
  const [later, earlier] = [await deletedBefore(800), await deletedBefore(900)];
  expect(await forgetDeletedDestinations(db, 1)).toBe(1);
  expect([await areDeletedDestinations(db, [later]), await areDeletedDestinations(db, [earlier])]).toEqual([
    true,
    false,
  ]);
  expect(await forgetDeletedDestinations(db, 2)).toBe(1);
});
