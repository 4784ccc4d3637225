import { beforeEach, expect, test } from '@jest/globals';
import { type ClaimedEntry, confirmClaims, requestPut } from '../../src/index.ts';
import { entriesForTest } from '../entries-for-test.ts';

const { db, add, claim, timePasses } = entriesForTest();
let entry: ClaimedEntry;
beforeEach(async () => {
  entry = (await claim(await add()))!;
});

const confirmed = async () => [...(await confirmClaims(db, [{ entry, destinationRevision: '1' }]))];

test('confirms a claim for which nothing has changed but the value', async () => {
  expect(await confirmed()).toEqual([entry.id]);
  await requestPut(db, [entry.id]);
  expect(await confirmed()).toEqual([entry.id]);
});

test('does not confirm a claim that another worker has replaced', async () => {
  await timePasses();
  expect((await claim(entry.id))?.id).toBe(entry.id);
  expect(await confirmed()).toEqual([]);
});

test.each([
  ['whose lease has been ended', 'update sync.entries set lease_owner = null, lease_until = null'],
  ['whose entry is to be removed meanwhile', `update sync.entries set desired = 'absent'`],
  ['whose destination has changed', 'update sync.destinations set revision = 2'],
  [
    'whose destination is deleted by force',
    'update sync.destinations set deleted_at = now(), namespace_id = null',
  ],
  ['whose lane is paused', `update sync.lanes set paused_until = now() + interval '1 minute'`],
  [
    'whose destination is paused',
    `update sync.destination_health set paused_until = now() + interval '1 minute'`,
  ],
  ['while syncing is disabled', 'update sync.config set disabled = true'],
])('does not confirm a claim %s', async (_, statement) => {
  await db.query(statement);
  expect(await confirmed()).toEqual([]);
});
