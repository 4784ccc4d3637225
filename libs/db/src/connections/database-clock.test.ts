import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { shiftClock } from '@secrets/testing/shift-clock';
import { createTestDb, type TestDb } from '../testing.ts';
import { DatabaseClock, readTime } from './database-clock.ts';
import { openPostgres } from './open-postgres.ts';

const hour = 3_600_000;
/** More than a slow machine takes for a few statements, and much less than an hour. */
const minutes = 600_000;

let owner: TestDb;
let restore = () => {};
beforeAll(async () => {
  owner = await createTestDb();
});
afterAll(() => owner?.close());
afterEach(() => {
  restore();
  jest.restoreAllMocks();
});

const timeOfServer = async () => (await owner.query<{ now: number }>(readTime))[0]!.now;
const isTimeOfServer = async (now: number) => Math.abs(now - (await timeOfServer())) < minutes;

test.each([
  ['ahead', hour],
  ['behind', -hour],
])('the time is that of the server, although the clock of the process is an hour %s', async (_which, ms) => {
  restore = shiftClock(() => ms);
  const db = openPostgres({ url: owner.url, connections: 1 });
  expect(await isTimeOfServer(db.now())).toBe(false);
  await db.transaction((tx) => tx.query('select 1')).finally(db.close);
  expect(await isTimeOfServer(db.now())).toBe(true);
  expect(Number.isInteger(db.now())).toBe(true);
});

test('the next statement finds the time after the clocks have moved apart', async () => {
  const db = openPostgres({ url: owner.url, connections: 1 });
  await db.query('select 1');
  const real = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => real() + hour);
  expect(await isTimeOfServer(db.now())).toBe(false);
  await db.query('select 1').finally(db.close);
  expect(await isTimeOfServer(db.now())).toBe(true);
});

test('the time is measured at most once a second, also if that fails', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  const clock = new DatabaseClock();
  expect(clock.isDue).toBe(true);
  await clock.measure(async () => ({ now: 5_000_000 }));
  expect([clock.isDue, clock.now()]).toEqual([false, 5_000_000]);
  now.mockReturnValue(1_000);
  expect([clock.isDue, clock.now()]).toEqual([true, 5_001_000]);
  await expect(clock.measure(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect([clock.isDue, clock.now()]).toEqual([false, 5_001_000]);
});

test('an answer is of the moment half-way between question and answer', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  const clock = new DatabaseClock();
  await clock.measure(async () => {
    now.mockReturnValue(200);
    return { now: 5_000_000 };
  });
  expect(clock.now()).toBe(5_000_100);
});
