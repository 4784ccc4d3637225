import { describe, expect, test } from '@jest/globals';
import { completeRemoval, failEntry, postponeEntry, requestPut, requestRemoval } from '../../src/index.ts';
import { entriesForTest, pushed, rejected } from '../entries-for-test.ts';

const { db, associationId, add, claim, complete, entry, due, timePasses } = entriesForTest();

test('ignores a failure that is reported after the completion of the same claim', async () => {
  const id = await add();
  const held = (await claim(id))!;
  expect(await complete(held, pushed)).toBe(true);
  const failed = { status: 'INTERNAL_SERVICE_ERROR', fault: null, error: 'x', retryInSeconds: 5 } as const;
  expect(await failEntry(db, held, failed)).toBe(false);
  expect(await complete(held, pushed)).toBe(false);
  expect(await entry(id)).toMatchObject({ status: 'SYNCED', nextAttemptAt: null });
  await timePasses();
  expect(await due()).toEqual([]);
});

test('shows the notice of what was stored, until a later completion has none', async () => {
  const id = await add();
  const errorOf = async () =>
    (
      await db.query<{ error: string | null }>('select last_error as error from sync.entries where id = $1', [
        id,
      ])
    )[0]?.error;
  await complete((await claim(id))!, { ...pushed, remote: { notice: 'keeps its locations' } });
  expect(await errorOf()).toBe('keeps its locations');
  await requestPut(db, [id]);
  await complete((await claim(id))!, { ...pushed, remote: { notice: null } });
  expect(await errorOf()).toBeNull();
});

test('makes an entry due again if a newer intent arrived during the attempt', async () => {
  const id = await add();
  const held = (await claim(id))!;
  await requestPut(db, [id]);
  expect(await due()).toEqual([]); // not before the lease ends
  await complete(held, pushed);
  expect(await entry(id)).toMatchObject({ status: 'PENDING', generation: 2, appliedGeneration: 1 });
  expect(await due()).toEqual([id]);
  expect((await claim(id))?.generation).toBe(2);
});

test('retries a temporary failure when its delay ends, not earlier', async () => {
  const id = await add();
  const failed = {
    status: 'EXTERNAL_SERVICE_ERROR',
    fault: 'throttled',
    error: 'slow down',
    retryInSeconds: 60,
  } as const;
  await failEntry(db, (await claim(id))!, failed);
  expect(await claim(id)).toBeUndefined();
  expect(await due()).toEqual([]);
  expect(await entry(id)).toMatchObject({
    status: 'EXTERNAL_SERVICE_ERROR',
    attempts: 1,
    lastError: 'slow down',
  });
  await timePasses();
  expect(await due()).toEqual([id]);
  expect((await claim(id))?.attempts).toBe(1);
});

test('retries a failure that waits for the operator only after a new intent', async () => {
  const id = await add();
  await failEntry(db, (await claim(id))!, rejected);
  await timePasses();
  expect(await due()).toEqual([]);
  await requestPut(db, [id]);
  expect(await due()).toEqual([id]);
  expect(await entry(id)).toMatchObject({ status: 'PENDING', lastError: null, attempts: 0 });
});

test('deletes the association with its last entry, also if two removals end at the same time', async () => {
  const ids = [await add('a'), await add('b')];
  await db.query('update sync.associations set removing = true where id = $1', [associationId()]);
  await requestRemoval(
    db,
    ids.map((id) => ({ id, waitsFor: null })),
  );
  const held = await Promise.all(ids.map((id) => claim(id)));
  await Promise.all(held.map((one) => completeRemoval(db, one!)));
  expect(await db.query('select id from sync.associations where id = $1', [associationId()])).toEqual([]);
});

test('keeps an entry that is set again during its removal, and pushes it again', async () => {
  const id = await add();
  await requestRemoval(db, [{ id, waitsFor: null }]);
  const held = (await claim(id))!;
  await requestPut(db, [id]);
  expect(await completeRemoval(db, held)).toBe(true);
  expect(await entry(id)).toMatchObject({ desired: 'present', status: 'PENDING', remote: null });
  expect(await due()).toEqual([id]);
});

describe('without room in the destination', () => {
  const full = { status: 'CLIENT_SIDE_ERROR', fault: 'full', error: 'full', retryInSeconds: 60 } as const;
  test('one that replaces another one keeps it, with new values, until something else has made room', async () => {
    const [old, other, fresh] = [await add('old'), await add('other'), await add('fresh')];
    for (const id of [old, other]) await complete((await claim(id))!, pushed);
    const change = async () => {
      await requestPut(db, [fresh]);
      await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
    };
    for (let times = 0; times < 2; times++) await change();
    await failEntry(db, (await claim(fresh))!, full);
    const held = (await claim(old))!;
    expect(held).toMatchObject({ isRefreshed: true });
    await complete({ ...held, generation: held.generation - 1 }, pushed);
    expect(await claim(old)).toBeUndefined();
    await postponeEntry(db, old);
    expect(await due()).toEqual([]);
    await requestRemoval(db, [{ id: other, waitsFor: null }]);
    await completeRemoval(db, (await claim(other))!);
    expect(await due()).toEqual([fresh]);
    await complete((await claim(fresh))!, pushed);
    expect(await due()).toEqual([old]);
    await completeRemoval(db, (await claim(old))!);
    expect(await entry(fresh)).toMatchObject({ status: 'SYNCED', fault: null });
  });

  test('every removal in the destination wakes some entries', async () => {
    const [other, first, second] = [await add('other'), await add('first'), await add('second')];
    await complete((await claim(other))!, pushed);
    for (const id of [first, second]) await failEntry(db, (await claim(id))!, full);
    expect(await due()).toEqual([]);
    await requestPut(db, [other]);
    await complete((await claim(other))!, { ...pushed, pushedHash: null, status: 'UNSYNCED' });
    expect((await due()).sort()).toEqual([first, second].sort());
  });
});

describe('an external secret that is to be kept', () => {
  const keep = async () => {
    const id = await add();
    await complete((await claim(id))!, pushed);
    await requestRemoval(db, [{ id, waitsFor: null }], { keep: true });
    return id;
  };

  test('is released, and its entry forgotten', async () => {
    const id = await keep();
    const held = (await claim(id))!;
    expect(held).toMatchObject({ desired: 'absent', isKept: true, isRefreshed: false });
    expect(await completeRemoval(db, held)).toBe(true);
    expect(await entry(id)).toBeUndefined();
  });

  test('is still known if it is set again during the release', async () => {
    const id = await keep();
    const held = (await claim(id))!;
    await requestPut(db, [id]);
    await completeRemoval(db, held);
    expect(await claim(id)).toMatchObject({ desired: 'present', isKept: false, remote: pushed.remote });
  });

  test('is removed if that is requested before the release', async () => {
    const id = await keep();
    await requestRemoval(db, [{ id, waitsFor: null }]);
    expect(await claim(id)).toMatchObject({ desired: 'absent', isKept: false });
  });

  test('is tried again if the release fails', async () => {
    const id = await keep();
    await failEntry(db, (await claim(id))!, { ...rejected, retryInSeconds: 60 });
    await timePasses();
    expect(await claim(id)).toMatchObject({ isKept: true });
  });

  test('is kept during a purge as the last request for the purge says', async () => {
    const [kept, removed] = [await keep(), await add('other')];
    const purge = (keeps: boolean) =>
      db.query('update sync.destinations set purge_initiated_at = now(), purge_keeps = $1', [keeps]);
    await purge(true);
    await requestRemoval(db, [{ id: removed, waitsFor: null }]);
    expect(await claim(removed)).toMatchObject({ isKept: true });
    await purge(false);
    expect(await claim(kept)).toMatchObject({ isKept: false });
  });

  test.each([true, false])(
    'is kept after a purge as that said (%j), if the removal was requested before its end',
    async (keeps) => {
      const [earlier, later] = [await add(), await add('later')];
      await requestRemoval(db, [{ id: earlier, waitsFor: null }], { keep: !keeps });
      await db.query('update sync.destinations set purge_keeps = $1, purge_ended_at = clock_timestamp()', [
        keeps,
      ]);
      await requestRemoval(db, [{ id: later, waitsFor: null }], { keep: !keeps });
      expect(await claim(earlier)).toMatchObject({ isKept: keeps });
      expect(await claim(later)).toMatchObject({ isKept: !keeps });
    },
  );
});
