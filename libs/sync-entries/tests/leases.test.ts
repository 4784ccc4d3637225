import { expect, test } from '@jest/globals';
import { endAllLeases } from '../src/index.ts';
import { entriesForTest } from './entries-for-test.ts';

const { db, add, claim, entry, due, timePasses } = entriesForTest();

test('ends the leases of a dead process', async () => {
  const id = await add();
  await claim(id);
  await endAllLeases(db);
  expect(await due()).toEqual([id]);
  expect(await claim(id)).toBeDefined();
});

test('delays an entry longer after each death that it was in progress at, up to a minute', async () => {
  const id = await add();
  const die = async () => {
    expect(await claim(id)).toBeDefined();
    await endAllLeases(db);
  };
  await die();
  await die();
  const { nextAttemptAt } = (await entry(id))!;
  expect(nextAttemptAt!.getTime() - Date.now()).toBeLessThan(1_500);
  await db.query(`update sync.entries set next_attempt_at = next_attempt_at + interval '1 hour'`); // so that it is ahead
  expect(await claim(id)).toBeUndefined();
  for (let deaths = 0; deaths < 12; deaths += 1) {
    await timePasses();
    await die();
  }
  expect((await entry(id))!.nextAttemptAt!.getTime() - Date.now()).toBeLessThanOrEqual(60_000);
});
