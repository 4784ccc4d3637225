import { expect, test } from '@jest/globals';
import { endAllLeases, failEntry, releaseClaim, requestPut } from '../../src/index.ts';
import { entriesForTest, pushed } from '../entries-for-test.ts';

const { db, add, claim, complete, entry, due, timePasses } = entriesForTest();

const failClaim = async (id: string) => {
  await failEntry(db, (await claim(id))!, {
    status: 'INTERNAL_SERVICE_ERROR',
    fault: null,
    error: 'an internal error',
    retryInSeconds: 0,
  });
};

test('ends the leases of a dead process', async () => {
  const id = await add();
  await claim(id);
  await endAllLeases(db);
  expect(await due()).toEqual([id]);
  expect(await claim(id)).toBeDefined();
});

test('verifies what a dead process may have written, also after a newer intent', async () => {
  const id = await add();
  await complete((await claim(id))!, pushed);
  await requestPut(db, [id]);
  expect(await claim(id)).toMatchObject({ pushedHash: 'h', verify: false });
  await requestPut(db, [id]);
  await endAllLeases(db);
  expect(await claim(id)).toMatchObject({ pushedHash: null, verify: true });
});

test('undoes a claim: the entry is due at once, and no attempt counts', async () => {
  const id = await add();
  await releaseClaim(db, (await claim(id))!);
  expect(await due()).toEqual([id]);
  expect(await claim(id)).toMatchObject({ attempts: 0, verify: false });
});

test('undoes a claim: its call is returned to the budget of the lane', async () => {
  const held = (await claim(await add()))!;
  const tokens = () => db.query('select tokens from sync.lanes');
  await db.query('update sync.lanes set tokens = 3');
  await releaseClaim(db, held);
  expect(await tokens()).toEqual([{ tokens: 4 }]);
  await releaseClaim(db, held);
  expect(await tokens()).toEqual([{ tokens: 4 }]);
});

test('undoes a claim after failed attempts: they still count', async () => {
  const id = await add();
  await failClaim(id);
  await releaseClaim(db, (await claim(id))!);
  expect(await claim(id)).toMatchObject({ attempts: 1 });
});

test('verifies an entry whose claim was undone after failed attempts and a newer intent', async () => {
  const id = await add();
  await complete((await claim(id))!, pushed);
  await requestPut(db, [id]);
  await failClaim(id);
  const held = (await claim(id))!;
  expect(held).toMatchObject({ pushedHash: 'h', verify: false });
  await requestPut(db, [id]);
  await releaseClaim(db, held);
  expect(await claim(id)).toMatchObject({ attempts: 0, pushedHash: null, verify: true });
});

test('does not undo a claim whose lease another worker has', async () => {
  const id = await add();
  const lost = (await claim(id))!;
  await timePasses();
  const held = (await claim(id))!;
  await releaseClaim(db, lost);
  expect(await due()).toEqual([]);
  expect(held.fence).not.toBe(lost.fence);
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
