import { expect, test } from '@jest/globals';
import {
  announcedEntries,
  markAnnounced,
  postponeEntry,
  releaseAdmitted,
  requestPut,
  requestRemoval,
  reviveEntries,
} from '../src/index.ts';
import { destinationType, entriesForTest, pushed } from './entries-for-test.ts';

const { db, add, admit, claim, complete, due, timePasses } = entriesForTest();

test('admits a due entry once, and again if it is not marked as announced within 30 seconds', async () => {
  const id = await add();
  expect(await due()).toEqual([id]);
  expect(await due()).toEqual([]);
  await timePasses();
  expect(await due()).toEqual([id]);
});

test('announces a waiting entry once, however often it changes', async () => {
  const id = await add();
  const claimed = await admit();
  await markAnnounced(db, [id], claimed.admissionXid);
  for (let change = 0; change < 10; change++) await requestPut(db, [id]);
  expect(await due()).toEqual([]);
  expect((await claim(id))?.generation).toBe(11);
});

test('does not mark an entry as announced that a new intent has changed since the admission', async () => {
  const id = await add();
  const { admissionXid } = await admit();
  await requestPut(db, [id]);
  await markAnnounced(db, [id], admissionXid);
  await timePasses();
  expect(await due()).toEqual([id]);
});

test('revives lost announcements, but not those of claimed entries', async () => {
  const [lost, held] = [await add('lost'), await add('held')];
  const { admissionXid } = await admit();
  await markAnnounced(db, [lost, held], admissionXid);
  const announced = await announcedEntries(db, destinationType, 10);
  expect(announced.map(({ entryId }) => entryId).sort()).toEqual([lost, held].sort());
  expect(await claim(held)).toBeDefined();
  expect(await reviveEntries(db, announced)).toBe(1);
  expect(await due()).toEqual([lost]);
});

test('does not revive an entry that was announced again in the meantime, or that is not confirmed', async () => {
  const id = await add();
  const { admissionXid } = await admit();
  expect(await announcedEntries(db, destinationType, 10)).toEqual([]);
  await markAnnounced(db, [id], admissionXid);
  const announced = await announcedEntries(db, destinationType, 10);
  await timePasses();
  expect(await reviveEntries(db, announced)).toBe(0);
  expect(await due()).toEqual([]);
});

test('makes an entry that could not be published due immediately, unless it has changed since', async () => {
  const [waits, moved] = [await add('waits'), await add('moved')];
  const { admissionXid } = await admit();
  expect(await claim(moved)).toBeDefined();
  // As if the claim had taken place at the same instant, so that both times are equal.
  await db.query(
    'update sync.entries set due_at = (select due_at from sync.entries where id = $1) where id = $2',
    [waits, moved],
  );
  await releaseAdmitted(db, [waits, moved], admissionXid);
  expect(await due()).toEqual([waits]);
});

test('does not wait for locked entries when it records what was published', async () => {
  const [free, locked] = [await add('free'), await add('locked')];
  const stateOf = () =>
    db.query('select external_name as name, due_at <= now() as due from sync.entries order by 1');
  const { admissionXid } = await admit();
  const [isLocked, isNoted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const moving = db.transaction(async (tx) => {
    await requestPut(tx, [locked]);
    isLocked.resolve();
    await isNoted.promise;
  });
  await isLocked.promise;
  await markAnnounced(db, [free, locked], admissionXid);
  await releaseAdmitted(db, [free, locked], admissionXid);
  isNoted.resolve();
  await moving;
  expect(await stateOf()).toEqual([
    { name: 'free', due: null },
    { name: 'locked', due: false }, // its message is out, and it is announced again if nobody claims it within 30 s
  ]);
});

test('forgets the announcement of an achieved entry', async () => {
  const id = await add();
  await complete((await claim(id))!, pushed);
  await db.query('update sync.entries set announced_at = now() where id = $1', [id]);
  await postponeEntry(db, id);
  expect(await announcedEntries(db, destinationType, 10)).toEqual([]);
  expect(await due()).toEqual([]);
});

test('postpones an entry that cannot be processed now', async () => {
  const id = await add();
  await claim(id);
  await postponeEntry(db, id);
  expect(await due()).toEqual([]);
  await timePasses();
  expect(await due()).toEqual([id]);
});

test('postpones an entry that waits for another one for as long again as it has waited, at most five minutes', async () => {
  const [old, fresh] = [await add('old'), await add('new')];
  await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
  const secondsPutOff = async (waitedSeconds: number) => {
    await db.query(`update sync.entries set updated_at = now() - $2 * interval '1 second' where id = $1`, [
      old,
      waitedSeconds,
    ]);
    const [row] = await db.transaction(async (tx) => {
      await postponeEntry(tx, old);
      return tx.query<{ seconds: number }>(
        'select extract(epoch from due_at - now())::float8 as seconds from sync.entries where id = $1',
        [old],
      );
    });
    return row!.seconds;
  };
  expect(await secondsPutOff(0)).toBeGreaterThanOrEqual(1);
  expect(await secondsPutOff(100)).toBeGreaterThanOrEqual(100);
  expect(await secondsPutOff(100_000)).toBe(300);
  await complete((await claim(fresh))!, pushed);
  expect(await secondsPutOff(100_000)).toBe(1);
});
