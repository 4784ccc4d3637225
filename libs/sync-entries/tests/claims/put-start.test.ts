import { expect, test } from '@jest/globals';
import {
  completeRemoval,
  failEntry,
  forgetPutStart,
  recordPutStart,
  recordRemote,
  requestPut,
  requestRemoval,
} from '../../src/index.ts';
import { entriesForTest, pushed, rejected } from '../entries-for-test.ts';

const { db, add, claim, complete, timePasses } = entriesForTest();

const down = {
  status: 'EXTERNAL_SERVICE_ERROR',
  fault: 'unavailable',
  error: 'down',
  retryInSeconds: 0,
} as const;
const conflict = { ...rejected, fault: 'conflict' } as const;
const nothingReadable = { status: 'UNSYNCED', pushedHash: null, settingsHash: null, remote: null } as const;

/** Claims a new entry and records the start of a put. */
async function started() {
  const id = await add();
  const held = (await claim(id))!;
  expect(await recordPutStart(db, held)).toBe(true);
  return { id, held };
}

const startOf = async (id: string) => (await claim(id))?.putStartedAt;

test('a claim alone does not record the start of a put: the worker may die before it looks', async () => {
  const id = await add();
  await claim(id);
  await timePasses();
  expect(await startOf(id)).toBeNull();
});

test('the start of a put is visible to every later claim, after a crash and after a success', async () => {
  const { id } = await started();
  await timePasses();
  const second = (await claim(id))!;
  expect(second.putStartedAt).toBeInstanceOf(Date);
  await complete(second, pushed);
  await requestPut(db, [id]);
  const third = (await claim(id))!;
  expect(third.putStartedAt).toEqual(second.putStartedAt);
  await failEntry(db, third, down);
  await requestRemoval(db, [{ id, waitsFor: null }]);
  expect(await startOf(id)).toEqual(second.putStartedAt);
});

test('a put that starts again keeps the time of the first start', async () => {
  const { id, held } = await started();
  await db.query(`update sync.entries set put_started_at = '2026-01-01T00:00:00Z'`);
  await recordPutStart(db, held);
  await timePasses();
  expect(await startOf(id)).toEqual(new Date('2026-01-01T00:00:00Z'));
});

test('the start of a put is not recorded after the lease was lost', async () => {
  const id = await add();
  const first = (await claim(id))!;
  await timePasses();
  expect(await recordPutStart(db, first)).toBe(false);
  const second = (await claim(id))!;
  expect(await recordPutStart(db, first)).toBe(false);
  expect(second.putStartedAt).toBeNull();
});

test('what a put has recorded is visible to the next claim, and not recorded after the lease was lost', async () => {
  const id = await add();
  const first = (await claim(id))!;
  expect(await recordRemote(db, first, { begun: 1 })).toBe(true);
  await timePasses();
  expect(await recordRemote(db, first, { begun: 2 })).toBe(false);
  expect((await claim(id))!.remote).toEqual({ begun: 1 });
  expect(await recordRemote(db, first, { begun: 3 })).toBe(false);
});

test.each([
  ['fails with conflict', (held: Held) => failEntry(db, held, conflict)],
  [
    'removed the external secret because nothing is readable',
    (held: Held) => complete(held, nothingReadable),
  ],
])('the start of a put is forgotten when an attempt %s', async (_, end) => {
  const { id, held } = await started();
  await end(held);
  await requestPut(db, [id]);
  expect(await startOf(id)).toBeNull();
});

test('the start of a put is forgotten when its worker says so, unless the lease was lost', async () => {
  const { id, held } = await started();
  await forgetPutStart(db, held);
  await timePasses();
  const second = (await claim(id))!;
  expect(second.putStartedAt).toBeNull();
  await recordPutStart(db, second);
  await forgetPutStart(db, held);
  await timePasses();
  expect(await startOf(id)).toBeInstanceOf(Date);
});

test('the start of a put is forgotten when the external secret was removed, also if it was set again meanwhile', async () => {
  const { id, held } = await started();
  await complete(held, pushed);
  await requestRemoval(db, [{ id, waitsFor: null }]);
  const removing = (await claim(id))!;
  await requestPut(db, [id]);
  await completeRemoval(db, removing);
  expect(await startOf(id)).toBeNull();
});

type Held = NonNullable<Awaited<ReturnType<typeof claim>>>;
