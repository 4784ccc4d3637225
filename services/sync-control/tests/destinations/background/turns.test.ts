import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { silentLogger } from '@secrets/telemetry';
import { advanceDestinations } from '../../../src/destinations/background/advance-destinations.ts';
import { claimReconciliation } from '../../../src/queries/changes/reconciliation.ts';
import { claimReplan, initiateReplan } from '../../../src/queries/destinations/replans.ts';
import { restartBackgroundWork } from '../../../src/queries/destinations/restart-background-work.ts';

let db: Db;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
beforeEach(() => db.query('delete from sync.destinations'));
afterEach(() => {
  jest.restoreAllMocks();
});

async function newDestination(name: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', $1, '{}') returning id`,
    [name],
  );
  return row!.id;
}

/** Work that rests does so until the end of the test, however long that takes. */
const stopClock = () => jest.spyOn(performance, 'now').mockReturnValue(performance.now());

/** Runs all work; `replan` plans one page of a destination and returns whether there may be another one. */
const advance = (replan: (destinationId: string) => Promise<boolean>) =>
  advanceDestinations({ db, log: silentLogger(), replan }, () => false);

test('work that is requested during a long replan of another destination takes turns with it', async () => {
  const [long, short] = [await newDestination('long'), await newDestination('short')];
  await initiateReplan(db, long);
  stopClock();
  const pages: string[] = [];
  await advance(async (id) => {
    pages.push(id === long ? 'long' : 'short');
    if (pages.length === 2) await initiateReplan(db, short);
    return pages.filter((page) => page === (id === long ? 'long' : 'short')).length < (id === long ? 6 : 2);
  });
  expect(pages).toEqual(['long', 'long', 'long', 'short', 'long', 'short', 'long', 'long']);
});

test('work that waits is not tried again in each turn of other work', async () => {
  const [long, waiting] = [await newDestination('long'), await newDestination('waiting')];
  for (const id of [long, waiting]) await initiateReplan(db, id);
  stopClock();
  const pages = { long: 0, waiting: 0 };
  await advance(async (id) => {
    pages[id === long ? 'long' : 'waiting'] += 1;
    return id === long && pages.long < 5;
  });
  expect(pages).toEqual({ long: 5, waiting: 1 });
});

test('the only process continues at its start what an earlier one had begun', async () => {
  const id = await newDestination('interrupted');
  await initiateReplan(db, id);
  const claims = async () => [
    (await claimReplan(db, id))?.destinationId,
    typeof (await claimReconciliation(db, randomUUID(), 0)),
  ];
  expect(await claims()).toEqual([id, 'string']);
  expect(await claims()).toEqual([undefined, 'undefined']);
  await restartBackgroundWork(db);
  expect(await claims()).toEqual([id, 'string']);
});
