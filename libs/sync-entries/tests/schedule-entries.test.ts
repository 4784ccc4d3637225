import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import {
  admitEntries,
  announcedEntries,
  completeEntries,
  completeRemoval,
  failEntry,
  markAnnounced,
  postponeEntry,
  releaseAdmitted,
  requestPut,
  requestRemoval,
  reviveAll,
  reviveEntries,
  reviveParkedEntries,
} from '../src/index.ts';
import { destinationType, entriesForTest, holdEntry, pushed, rejected } from './entries-for-test.ts';

const { db, add, admit, claim, complete, due, entry, timePasses } = entriesForTest();

test('admits a due entry once, and again if it is not marked as announced within 30 seconds', async () => {
  const id = await add();
  expect(await due()).toEqual([id]);
  expect(await due()).toEqual([]);
  await timePasses();
  expect(await due()).toEqual([id]);
});

// A scheduler may have read the lane before that was corrected.
test('an admission after the clock was set back does not record a time that lies ahead', async () => {
  const id = await add();
  await db.query(`update sync.lanes set tokens = 5, refilled_at = now() + interval '1 hour'`);
  expect(await due()).toEqual([id]);
  expect(await db.query('select from sync.lanes where refilled_at > now()')).toEqual([]);
});

test('an admission keeps what was taken out of the budget after it had read the lane', async () => {
  const id = await add();
  await db.query("update sync.lanes set tokens = 5, refilled_at = now() + interval '1 hour'");
  let isRead = false;
  const interrupted: Sql = {
    query: async (text, params) => {
      if (isRead) await db.query('update sync.lanes set tokens = tokens - 2');
      isRead = true;
      return db.query(text, params);
    },
  };
  const budget = { perSecond: 10, burst: 10 };
  const { messages } = await admitEntries(interrupted, { destinationType, budget });
  expect(messages.map(({ entry_id }) => entry_id)).toEqual([id]);
  expect(await db.query('select tokens from sync.lanes')).toEqual([{ tokens: 2 }]);
});

test('announces a waiting entry once, however often it changes', async () => {
  const id = await add();
  const claimed = await admit();
  await markAnnounced(db, [{ entryIds: [id], announcedAt: claimed.announcedAt! }]);
  for (let change = 0; change < 10; change++) await requestPut(db, [id]);
  expect(await due()).toEqual([]);
  expect((await claim(id))?.generation).toBe(11);
});

test('does not publish an entry twice that has changed before it was recorded as published', async () => {
  const id = await add();
  const { announcedAt } = await admit();
  await requestPut(db, [id]);
  await markAnnounced(db, [{ entryIds: [id], announcedAt: announcedAt! }]);
  await timePasses();
  expect(await due()).toEqual([]);
  expect((await claim(id))?.generation).toBe(2);
});

test('does not record an admission that a later one has replaced', async () => {
  const id = await add();
  const { announcedAt } = await admit();
  await timePasses();
  expect(await due()).toEqual([id]);
  await markAnnounced(db, [{ entryIds: [id], announcedAt: announcedAt! }]);
  await timePasses();
  expect(await due()).toEqual([id]);
});

test('revives lost announcements, but not those of claimed entries', async () => {
  const [lost, held] = [await add('lost'), await add('held')];
  const { announcedAt } = await admit();
  await markAnnounced(db, [{ entryIds: [lost, held], announcedAt: announcedAt! }]);
  const announced = await announcedEntries(db, destinationType, 10);
  expect(announced.map(({ entryId }) => entryId).sort()).toEqual([lost, held].sort());
  expect(await claim(held)).toBeDefined();
  expect(await reviveEntries(db, announced)).toBe(1);
  expect(await due()).toEqual([lost]);
});

test('does not revive an entry that was announced again in the meantime, or that is not confirmed', async () => {
  const id = await add();
  const { announcedAt } = await admit();
  expect(await announcedEntries(db, destinationType, 10)).toMatchObject([{ isRecorded: false }]);
  await markAnnounced(db, [{ entryIds: [id], announcedAt: announcedAt! }]);
  const announced = await announcedEntries(db, destinationType, 10);
  expect(announced).toMatchObject([{ isRecorded: true }]);
  await timePasses();
  expect(await reviveEntries(db, announced)).toBe(0);
  expect(await due()).toEqual([]);
});

test('revives whatever a dead process has announced, and nothing else', async () => {
  const recorded = await add('recorded');
  const { announcedAt } = await admit();
  await markAnnounced(db, [{ entryIds: [recorded], announcedAt: announcedAt! }]);
  const [unrecorded, held, waits] = [await add('unrecorded'), await add('held'), await add('waits')];
  await admit();
  expect(await claim(held)).toBeDefined();
  await failEntry(db, (await claim(waits))!, rejected);
  await reviveAll(db);
  expect((await due()).sort()).toEqual([recorded, unrecorded].sort());
});

test('makes an entry that could not be published due immediately, unless it has changed since', async () => {
  const [waits, moved] = [await add('waits'), await add('moved')];
  const { announcedAt } = await admit();
  expect(await claim(moved)).toBeDefined();
  // As if the claim had taken place at the same instant, so that both times are equal.
  await db.query(
    'update sync.entries set due_at = (select due_at from sync.entries where id = $1) where id = $2',
    [waits, moved],
  );
  await releaseAdmitted(db, { entryIds: [waits, moved], announcedAt: announcedAt! });
  expect(await due()).toEqual([waits]);
});

test('does not wait for locked entries when it records what was published', async () => {
  const [free, locked] = [await add('free'), await add('locked')];
  const stateOf = () =>
    db.query('select external_name as name, due_at <= now() as due from sync.entries order by 1');
  const { announcedAt } = await admit();
  const [isLocked, isNoted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const moving = db.transaction(async (tx) => {
    await requestPut(tx, [locked]);
    isLocked.resolve();
    await isNoted.promise;
  });
  await isLocked.promise;
  await markAnnounced(db, [{ entryIds: [free, locked], announcedAt: announcedAt! }]);
  await releaseAdmitted(db, { entryIds: [locked], announcedAt: announcedAt! });
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

describe('an entry that waits for another one', () => {
  let old: string;
  let fresh: string;
  const failFresh = async () => failEntry(db, (await claim(fresh))!, rejected);

  beforeEach(async () => {
    [old, fresh] = [await add('old'), await add('new')];
    await complete((await claim(old))!, pushed);
    await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
  });

  test('is not announced, with the reason, however long the other one waits for the operator', async () => {
    await failFresh();
    await postponeEntry(db, old);
    for (let day = 1; day <= 3; day += 1) {
      await timePasses();
      expect(await due()).toEqual([]);
    }
    expect(await announcedEntries(db, destinationType, 10)).toEqual([]);
    expect(await entry(old)).toMatchObject({
      status: 'PENDING',
      lastError: 'waits until new, which replaces it, is synced',
    });
  });

  test.each(['after', 'before'])(
    'is due once the other one is achieved %s it was postponed',
    async (when) => {
      if (when === 'after') await postponeEntry(db, old);
      await failFresh();
      await requestPut(db, [fresh]);
      await complete((await claim(fresh))!, pushed);
      if (when === 'before') await postponeEntry(db, old);
      await db.query(`update sync.entries set due_at = due_at - interval '1 second'`); // the shortest pause
      expect(await due()).toEqual([old]);
      expect(await entry(old)).toMatchObject({ lastError: null });
      expect(await claim(old)).toBeDefined();
    },
  );

  test('is due once the other one is deleted', async () => {
    await postponeEntry(db, old);
    await requestRemoval(db, [{ id: fresh, waitsFor: null }]);
    await completeRemoval(db, (await claim(fresh))!);
    expect(await due()).toEqual([old]);
  });

  test('is due with a new intent of its own', async () => {
    await failFresh();
    await postponeEntry(db, old);
    await requestPut(db, [old]);
    expect(await due()).toEqual([old]);
  });

  test('stays due while the other one is about to change', async () => {
    const hold = await holdEntry(db, fresh);
    await postponeEntry(db, old);
    await hold.release();
    await timePasses();
    expect(await due()).toContain(old);
  });

  test('is never missed by a completion at the same moment', async () => {
    for (let round = 1; round <= 100; round += 1) {
      await requestPut(db, [fresh]);
      const held = (await claim(fresh))!;
      const completion = () => completeEntries(db, [{ held, achieved: pushed }], { skipLocked: false });
      const both = [() => postponeEntry(db, old), completion];
      await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((run) => run()));
      expect(
        await db.query('select id from sync.entries where id = $1 and due_at is not null', [old]),
      ).toHaveLength(1);
    }
  });

  test('is found if an earlier version of the service has not made it due', async () => {
    await postponeEntry(db, old);
    expect(await reviveParkedEntries(db)).toBe(0);
    await db.query(`update sync.entries set status = 'SYNCED' where id = $1`, [fresh]);
    expect(await reviveParkedEntries(db)).toBe(1);
  });
});
