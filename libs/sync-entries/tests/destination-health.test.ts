import { expect, test } from '@jest/globals';
import { pauseDestination, recordDestinationFailure, recordDestinationSuccess } from '../src/index.ts';
import { entriesForTest } from './entries-for-test.ts';

const { db, destinationId, add, claim } = entriesForTest();

const pauseEnds = () =>
  db.query(`update sync.destination_health set paused_until = paused_until - interval '1 day'`);

test('claims nothing for a paused destination until its next success', async () => {
  const id = await add();
  expect(await recordDestinationFailure(db, destinationId())).toBe(1);
  await pauseEnds();
  expect(await recordDestinationFailure(db, destinationId())).toBe(2);
  await pauseDestination(db, destinationId(), 60);
  expect(await claim(id)).toBeUndefined();
  await recordDestinationSuccess(db, destinationId());
  expect(await claim(id)).toBeDefined();
});

test('counts calls that fail together, or during a pause, as one failure', async () => {
  // In one transaction, in which now() does not advance: failures within 250 ms are one.
  const failures: number[] = [];
  await db.transaction(async (tx) => {
    for (let call = 0; call < 16; call += 1)
      failures.push(await recordDestinationFailure(tx, destinationId()));
  });
  expect(Math.max(...failures)).toBe(1);
  await pauseDestination(db, destinationId(), 60);
  expect(await recordDestinationFailure(db, destinationId())).toBe(1);
  await pauseEnds();
  expect(await recordDestinationFailure(db, destinationId())).toBe(2);
});
