import { expect, test } from '@jest/globals';
import {
  completeRemoval,
  deleteSomeEntries,
  failEntry,
  type Outcome,
  readHistory,
  requestPut,
  requestRemoval,
} from '../../src/index.ts';
import { entriesForTest, pushed, rejected } from '../entries-for-test.ts';

const { db, destinationId, add, claim, complete, timePasses } = entriesForTest();

const throttled = (error = 'slow down') =>
  ({ status: 'PENDING', fault: 'throttled', error, retryInSeconds: 60 }) as const;

async function fail(id: string, failed: Parameters<typeof failEntry>[2]): Promise<void> {
  await timePasses();
  await failEntry(db, (await claim(id))!, failed);
}

async function push(id: string): Promise<void> {
  await requestPut(db, [id]);
  await complete((await claim(id))!, pushed);
}

const summaryOf = ({ action, status, fault, attempts }: Outcome) => [action, status, fault, attempts];
const history = async (id: string) => (await readHistory(db, [id])).map(summaryOf);

test('successes and failures are recorded, the newest first', async () => {
  const id = await add();
  await fail(id, throttled());
  await fail(id, rejected);
  await push(id);
  expect(await history(id)).toEqual([
    ['put', 'SYNCED', null, 1],
    ['put', 'CLIENT_SIDE_ERROR', 'rejected', 2],
    ['put', 'PENDING', 'throttled', 1],
  ]);
  expect((await readHistory(db, [id])).map(({ error }) => error)).toEqual([null, 'bad', 'slow down']);
});

test('identical failures in a row are one outcome, with the first and the last time and the number of attempts', async () => {
  const id = await add();
  for (let attempt = 0; attempt < 3; attempt += 1) await fail(id, throttled());
  const [outcome, ...others] = await readHistory(db, [id]);
  expect([summaryOf(outcome!), others]).toEqual([['put', 'PENDING', 'throttled', 3], []]);
  expect(outcome!.at.getTime()).toBeGreaterThan(outcome!.since.getTime());
  await fail(id, throttled('much slower'));
  await push(id);
  await requestPut(db, [id]);
  await fail(id, throttled('much slower'));
  expect(await history(id)).toHaveLength(4);
});

test('the last 20 outcomes are kept, and an overwritten one does not lend its time to a later one', async () => {
  const id = await add();
  await fail(id, throttled());
  for (let count = 0; count < 19; count += 1) await push(id);
  expect(await history(id)).toHaveLength(20);
  await requestPut(db, [id]);
  await fail(id, throttled());
  const outcomes = await readHistory(db, [id]);
  expect(outcomes.map(({ status }) => status)).toEqual(['PENDING', ...Array(19).fill('SYNCED')]);
  expect(outcomes[0]!.since).toEqual(outcomes[0]!.at);
});

test('an attempt whose lease was lost records nothing', async () => {
  const id = await add();
  const held = (await claim(id, 0))!;
  expect(await complete((await claim(id))!, pushed)).toBe(true);
  expect(await complete(held, pushed)).toBe(false);
  expect(await failEntry(db, held, rejected)).toBe(false);
  expect(await history(id)).toEqual([['put', 'SYNCED', null, 2]]);
});

test('removals are recorded, also of an entry that is set again meanwhile', async () => {
  const id = await add();
  await requestRemoval(db, [{ id, waitsFor: null }]);
  await fail(id, { ...throttled(), retryInSeconds: 0 });
  const held = (await claim(id))!;
  await requestPut(db, [id]);
  await completeRemoval(db, held);
  expect(await history(id)).toEqual([
    ['remove', 'UNSYNCED', null, 2],
    ['remove', 'PENDING', 'throttled', 1],
  ]);
});

test('the history of an entry is deleted with it, however that is deleted', async () => {
  const [removed, deleted, cascaded] = [await add('a'), await add('b'), await add('c')];
  for (const id of [removed, deleted, cascaded]) await push(id);
  await requestRemoval(db, [{ id: removed, waitsFor: null }]);
  await completeRemoval(db, (await claim(removed))!);
  expect([await history(removed), (await history(deleted)).length]).toEqual([[], 1]);
  await deleteSomeEntries(db, destinationId(), 1);
  await db.query('delete from sync.destinations');
  expect(await db.query('select from sync.entry_history')).toEqual([]);
});
