import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { isUniqueViolation } from '@secrets/db';
import {
  countPending,
  failEntry,
  markAnnounced,
  namesTaken,
  pendingAssociations,
  removalError,
  requestRemoval,
} from '../src/index.ts';
import { entriesForTest, pushed, rejected } from './entries-for-test.ts';

const { db, destinationId, associationId, add, admit, claim, complete } = entriesForTest();

test('counts pending operations up to the limit', async () => {
  await Promise.all(Array.from({ length: 5 }, (_, index) => add(`n${index}`)));
  expect(await countPending(db, 100)).toBe(5);
  expect(await countPending(db, 3)).toBe(3);
  const { messages, announcedAt } = await admit();
  const published = messages.map(({ entry_id }) => entry_id).slice(0, 2);
  await markAnnounced(db, [{ entryIds: published, announcedAt: announcedAt! }]);
  expect(await countPending(db, 100)).toBe(5);
});

test('refuses a name that is taken in the destination, and finds its holder', async () => {
  await add('same');
  expect(await add('same').catch(isUniqueViolation)).toBe(true);
  expect(await namesTaken(db, destinationId(), ['same', 'free'])).toMatchObject([
    { mount: 'kv', secretName: 's' },
  ]);
});

test('finds the associations that have a pending entry', async () => {
  const id = await add();
  const other = randomUUID();
  expect(await pendingAssociations(db, [associationId(), other])).toEqual(new Set([associationId()]));
  await complete((await claim(id))!, pushed);
  expect(await pendingAssociations(db, [associationId(), other])).toEqual(new Set());
});

test('finds the error of a removal that waits for the operator, and no other', async () => {
  const [put, removal] = [await add('put'), await add('removal')];
  await failEntry(db, (await claim(put))!, rejected);
  expect(await removalError(db, destinationId())).toBeNull();
  await requestRemoval(db, [{ id: removal, waitsFor: null }]);
  await failEntry(db, (await claim(removal))!, rejected);
  expect(await removalError(db, destinationId())).toBe('bad');
});
