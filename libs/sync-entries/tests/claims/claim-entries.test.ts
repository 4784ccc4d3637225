import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  claimEntries,
  completeEntries,
  failEntry,
  lockedEntries,
  postponeEntry,
  requestPut,
  requestRemoval,
} from '../../src/index.ts';
import { entriesForTest, holdEntry, pushed, rejected } from '../entries-for-test.ts';

const { db, add, claim, claimAll, complete, entry, due, timePasses } = entriesForTest();

test('grants an entry to one of many simultaneous claims', async () => {
  const id = await add();
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim(id)));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('lets another worker claim an entry whose lease ended, and refuses the writes of the first one', async () => {
  const id = await add();
  const first = (await claim(id))!;
  await timePasses();
  const second = (await claim(id))!;
  expect(second.fence).not.toBe(first.fence);
  expect(await complete(first, pushed)).toBe(false);
  expect(await failEntry(db, first, rejected)).toBe(false);
  expect(await complete(second, pushed)).toBe(true);
});

describe('what an external secret holds is uncertain, and verified,', () => {
  const pushedOnce = async () => {
    const id = await add();
    await complete((await claim(id))!, { ...pushed, pushedHash: 'of the value' });
    return id;
  };
  const uncertain = { pushedHash: null, verify: true };
  const certain = { pushedHash: 'of the value', verify: false };

  test('after a worker has died', async () => {
    const id = await pushedOnce();
    await requestPut(db, [id]);
    expect(await claim(id)).toMatchObject(certain);
    await timePasses();
    expect(await claim(id)).toMatchObject(uncertain);
  });

  test('after an attempt has failed, for the next intent', async () => {
    const id = await pushedOnce();
    await requestPut(db, [id]);
    await failEntry(db, (await claim(id))!, rejected);
    await requestPut(db, [id]);
    expect(await claim(id)).toMatchObject(uncertain);
  });

  test('after an attempt has failed whose intent was replaced meanwhile', async () => {
    const id = await pushedOnce();
    await requestPut(db, [id]);
    const first = (await claim(id))!;
    await requestPut(db, [id]);
    await failEntry(db, first, rejected);
    expect(await claim(id)).toMatchObject(uncertain);
  });

  test('but not after an attempt has succeeded whose intent was replaced meanwhile', async () => {
    const id = await pushedOnce();
    await requestPut(db, [id]);
    const first = (await claim(id))!;
    await requestPut(db, [id]);
    await complete(first, { ...pushed, pushedHash: 'of the value' });
    expect(await claim(id)).toMatchObject(certain);
  });
});

test('claims of several entries those that are free, and completes those whose lease still holds', async () => {
  const [free, held, lost] = [await add('free'), await add('held'), await add('lost')];
  await claim(held);
  const claimed = await claimAll([free, held, lost, randomUUID()]);
  expect(claimed.map(({ id }) => id).sort()).toEqual([free, lost].sort());
  await timePasses();
  await claim(lost);
  await requestPut(db, [free]);
  const done = await completeEntries(
    db,
    claimed.map((held) => ({ held, achieved: { ...pushed, pushedHash: held.externalName } })),
  );
  expect([...done]).toEqual([free]);
  expect(await entry(free)).toMatchObject({ status: 'PENDING', remote: { arn: 'a' } });
  expect((await claim(free))?.pushedHash).toBe('free'); // for the newer intent
});

test('does not wait for an entry that is locked, and says that it is', async () => {
  const [free, held] = [await add('free'), await add('held')];
  const hold = await holdEntry(db, held);
  expect(await claim(held)).toBeUndefined();
  expect([...(await lockedEntries(db, [free, held, randomUUID()]))]).toEqual([held]);
  await hold.release();
  expect([...(await lockedEntries(db, [held]))]).toEqual([]);
  expect(await claim(held)).toBeDefined();
});

test('claims nothing while syncing is disabled, and nothing of another destination type', async () => {
  const id = await add();
  await db.query('update sync.config set disabled = true');
  expect(await claim(id)).toBeUndefined();
  await db.query('update sync.config set disabled = false');
  expect(
    await claimEntries(db, { entryIds: [id], destinationType: 'other', owner: 'x', leaseSeconds: 1 }),
  ).toEqual([]);
  expect(await claim(id)).toBeDefined();
});

test('does not claim an achieved entry', async () => {
  const id = await add();
  await complete((await claim(id))!, pushed);
  expect(await claim(id)).toBeUndefined();
  expect(await due()).toEqual([]);
});

test('claims the removal of an old name only after the new name is achieved', async () => {
  const [old, fresh] = [await add('old'), await add('new')];
  await complete((await claim(old))!, pushed);
  await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
  expect(await claim(old)).toBeUndefined();
  await failEntry(db, (await claim(fresh))!, rejected);
  expect(await claim(old)).toBeUndefined();
  await requestPut(db, [fresh]);
  await complete((await claim(fresh))!, pushed);
  expect(await claim(old)).toBeDefined();
});

test('claims the removal of an old name although nothing readable is left for the new one', async () => {
  const [old, fresh] = [await add('old'), await add('new')];
  await complete((await claim(old))!, pushed);
  await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
  await complete((await claim(fresh))!, {
    status: 'UNSYNCED',
    pushedHash: null,
    settingsHash: null,
    remote: null,
  });
  expect(await claim(old)).toBeDefined();
});

describe('while the entry that replaces an old name', () => {
  const replaced = async () => {
    const [old, fresh] = [await add('old'), await add('new')];
    await complete((await claim(old))!, pushed);
    await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
    return { old, fresh };
  };
  /** Records the intents of both that a new value leads to. */
  const change = async ({ old, fresh }: { old: string; fresh: string }) => {
    await requestPut(db, [fresh]);
    await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
  };

  test('has failed, an old one whose secret has changed is claimed to be refreshed, and once', async () => {
    const { old, fresh } = await replaced();
    await failEntry(db, (await claim(fresh))!, rejected);
    await change({ old, fresh });
    expect(await claim(old)).toBeUndefined(); // the new one comes first
    await postponeEntry(db, old);
    await failEntry(db, (await claim(fresh))!, rejected);
    expect(await due()).toEqual([old]);
    const held = (await claim(old))!;
    expect(held).toMatchObject({ desired: 'absent', isRefreshed: true });
    await complete({ ...held, generation: held.generation - 1 }, { ...pushed, pushedHash: 'newer' });
    expect(await claim(old)).toBeUndefined();
    expect(await entry(old)).toMatchObject({ desired: 'absent', status: 'PENDING' });
    await requestPut(db, [fresh]);
    await complete((await claim(fresh))!, pushed);
    expect(await claim(old)).toMatchObject({ desired: 'absent', isRefreshed: false });
  });

  test('has failed, one that was never written is not', async () => {
    const [old, fresh] = [await add('old'), await add('new')];
    await failEntry(db, (await claim(old))!, rejected);
    for (let times = 0; times < 2; times++) await change({ old, fresh });
    await failEntry(db, (await claim(fresh))!, rejected);
    expect(await claim(old)).toBeUndefined();
  });

  test('is achieved during a refresh, the old one is due to be removed after it', async () => {
    const { old, fresh } = await replaced();
    await change({ old, fresh });
    await failEntry(db, (await claim(fresh))!, rejected);
    const held = (await claim(old))!;
    await requestPut(db, [fresh]);
    await complete((await claim(fresh))!, pushed);
    await complete({ ...held, generation: held.generation - 1 }, pushed);
    expect(await due()).toEqual([old]);
    expect(await claim(old)).toMatchObject({ desired: 'absent', isRefreshed: false });
  });

  test('has failed and a worker has died during a refresh, it is claimed again and verified', async () => {
    const { old, fresh } = await replaced();
    await change({ old, fresh });
    await failEntry(db, (await claim(fresh))!, rejected);
    await claim(old);
    await timePasses();
    expect(await claim(old)).toMatchObject({ isRefreshed: true, verify: true });
  });

  test('has failed, a refresh that fails is tried again', async () => {
    const { old, fresh } = await replaced();
    await change({ old, fresh });
    await failEntry(db, (await claim(fresh))!, rejected);
    await failEntry(db, (await claim(old))!, { ...rejected, retryInSeconds: 60 });
    await timePasses();
    expect(await claim(old)).toMatchObject({ isRefreshed: true });
  });
});
