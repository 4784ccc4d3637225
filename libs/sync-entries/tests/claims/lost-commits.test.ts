import { describe, expect, test } from '@jest/globals';
import {
  completeRemoval,
  confirmClaims,
  failEntry,
  forgetPutStart,
  postponeEntry,
  readEntryContexts,
  recordPutStart,
  recordRemote,
  requestPut,
  requestRemoval,
  reviveStuckEntries,
  shortenLease,
  verifyAgain,
} from '../../src/index.ts';
import { entriesForTest, keepEntries, pushed, rejected } from '../entries-for-test.ts';

// A standby is promoted, or a copy restored, that lacks the newest commits, while the workers keep running.

const { db, destinationId, add, claim, complete, entry, due, timePasses } = entriesForTest();

const claimOf = async (id: string) => (await claim(id))!;
const stateOf = async (id: string) =>
  (
    await db.query<{ verify: boolean; hash: string | null }>(
      'select verify, pushed_hash as hash from sync.entries where id = $1',
      [id],
    )
  )[0];

/** An entry at generation 1 that worker A has claimed with a later intent, both lost, and that worker B has claimed since. */
async function lostClaim() {
  const id = await add();
  const { restore } = await keepEntries(db);
  await requestPut(db, [id]);
  const lost = await claimOf(id);
  await restore();
  return { id, lost, current: await claimOf(id) };
}

describe('a claim that was lost', () => {
  test('counts for nothing, although its numbers repeat, and the next write leaves', async () => {
    const { id, lost, current } = await lostClaim();
    await requestPut(db, [id]); // generation 2 again
    expect(lost.generation).toBe((await entry(id))!.generation);
    expect(await complete(lost, { ...pushed, pushedHash: 'lost' })).toBe(false);
    expect(await failEntry(db, lost, rejected)).toBe(false);
    expect(await recordPutStart(db, lost)).toBe(false);
    expect(await recordRemote(db, lost, { lost: true })).toBe(false);
    expect(await shortenLease(db, lost, 1)).toBe(false);
    const waiting = [lost, current].map((held) => ({
      entry: held,
      destinationRevision: '1',
    }));
    expect(await confirmClaims(db, waiting.slice(0, 1))).toEqual(new Set());
    expect(await confirmClaims(db, waiting.slice(1))).toEqual(new Set([id]));
    expect(await complete(current, pushed)).toBe(true);
    expect(await entry(id)).toMatchObject({ status: 'PENDING', generation: 2, appliedGeneration: 1 });
    expect(await due()).toEqual([id]);
    expect(await complete(await claimOf(id), pushed)).toBe(true);
    expect(await entry(id)).toMatchObject({ status: 'SYNCED', generation: 2, appliedGeneration: 2 });
  });

  test('removes nothing, and forgets no start of the claim that holds the entry now', async () => {
    const id = await add();
    await requestRemoval(db, [{ id, waitsFor: null }]);
    const { restore } = await keepEntries(db);
    const lost = await claimOf(id);
    await restore();
    const current = await claimOf(id);
    expect(await recordPutStart(db, current)).toBe(true);
    await forgetPutStart(db, lost);
    const [row] = await db.query<{ isStarted: boolean }>(
      'select put_started_at is not null as "isStarted" from sync.entries where id = $1',
      [id],
    );
    expect(row).toEqual({ isStarted: true });
    expect(await completeRemoval(db, lost)).toBe(false);
    expect(await entry(id)).toBeDefined();
    expect(await completeRemoval(db, current)).toBe(true);
    expect(await entry(id)).toBeUndefined();
  });

  test('has the entry verified once nobody holds it', async () => {
    const { id, lost, current } = await lostClaim();
    expect(await verifyAgain(db, [lost])).toEqual(new Set([id])); // what the holder records would hide it
    await complete(current, pushed);
    expect(await verifyAgain(db, [lost])).toEqual(new Set());
    expect(await entry(id)).toMatchObject({ status: 'PENDING' });
    expect(await stateOf(id)).toEqual({ verify: true, hash: null });
    expect(await due()).toEqual([id]);
    await complete(await claimOf(id), pushed);
    expect(await stateOf(id)).toEqual({ verify: false, hash: 'h' });
  });

  test('is distinguished from one that is held, was recorded, or whose entry is gone', async () => {
    const [held, done] = [await claimOf(await add('held')), await claimOf(await add('done'))];
    const gone = await claimOf(await add('gone'));
    await complete(done, pushed);
    await db.query('delete from sync.entries where id = $1', [gone.id]);
    expect(await verifyAgain(db, [held, done, gone])).toEqual(new Set());
    expect(await entry(done.id)).toMatchObject({ status: 'SYNCED' });
  });

  test('of an earlier version, which compares fences only, is refused too, and refuses none of this one', async () => {
    const id = await add();
    const { restore } = await keepEntries(db);
    const earlier = `update sync.entries set lease_owner = 'earlier', lease_until = now() + interval '30 s', fence = fence + 1
                      where id = $1 returning fence`;
    const [lost] = await db.query<{ fence: number }>(earlier, [id]);
    await restore();
    const current = await claimOf(id);
    expect(current.fence).not.toBe(lost!.fence);
    await restore();
    const [taken] = await db.query<{ fence: number }>(earlier, [id]);
    expect(taken!.fence).not.toBe(current.fence);
    expect(await complete(current, pushed)).toBe(false);
  });
});

describe('a claim that was committed on another server', () => {
  const elsewhere = async (id: string) => ({ ...(await claimOf(id)), server: 'another' });

  test('that succeeds has the entry verified, because the value or a later intent may be lost', async () => {
    const id = await add();
    expect(await complete(await elsewhere(id), pushed)).toBe(true);
    expect(await entry(id)).toMatchObject({ status: 'PENDING', generation: 1, appliedGeneration: 0 });
    expect(await stateOf(id)).toEqual({ verify: true, hash: 'h' });
    expect(await due()).toEqual([id]);
    await complete(await claimOf(id), pushed);
    expect(await entry(id)).toMatchObject({ status: 'SYNCED' });
  });

  test('that fails is tried again at once, even if the failure is final', async () => {
    const id = await add();
    expect(await failEntry(db, await elsewhere(id), rejected)).toBe(true);
    expect(await entry(id)).toMatchObject({ status: 'PENDING', appliedGeneration: 0 });
    expect(await due()).toEqual([id]);
  });
});

test('a write leaves although a later generation counts as achieved', async () => {
  const id = await add();
  await complete(await claimOf(id), pushed);
  await db.query('update sync.entries set applied_generation = 7 where id = $1', [id]);
  await requestPut(db, [id]);
  await timePasses();
  expect(await due()).toEqual([id]);
  expect(await claim(id)).toBeDefined();
});

describe('what a worker keeps a client for', () => {
  const revisionOf = async (id: string) => (await readEntryContexts(db, [id])).get(id)!.destination.revision;
  const write = (settings: object) =>
    db.query('update sync.destinations set settings = $2::jsonb, revision = revision + 1 where id = $1', [
      destinationId(),
      JSON.stringify(settings),
    ]);

  test('is another one after each write of the destination, also after one was lost', async () => {
    const id = await add();
    const first = await revisionOf(id);
    await write({ lost: true });
    const lost = await revisionOf(id);
    await db.query(`update sync.destinations set settings = '{}', revision = $2 where id = $1`, [
      destinationId(),
      1,
    ]);
    await write({ lost: false });
    expect(new Set([first, lost, await revisionOf(id)]).size).toBe(3);
  });

  test('is another one as soon as the application of the destination is', async () => {
    const id = await add();
    const [app] = await db.query<{ id: string }>(
      `insert into sync.codehost_apps (namespace_id, name, app_id, fingerprint, sealed_private_key)
       values ('root', 'app', 1, 'first', '\\x00') returning id`,
    );
    await db.query('update sync.destinations set codehost_app_id = $2 where id = $1', [
      destinationId(),
      app!.id,
    ]);
    const first = await revisionOf(id);
    const held = await claimOf(id);
    await db.query(`update sync.codehost_apps set fingerprint = 'lost'`);
    expect(await revisionOf(id)).not.toBe(first);
    expect(await confirmClaims(db, [{ entry: held, destinationRevision: first }])).toEqual(new Set());
  });
});

describe('an entry that nothing would ever move', () => {
  const idle = `status = 'PENDING', due_at = null`;

  test.each([
    ['that counts as achieved', `${idle}, applied_generation = 7`],
    ['that is not due', idle],
    ['whose retry is not due', `status = 'INTERNAL_SERVICE_ERROR', due_at = null`],
    [
      'that counts as achieved and waits for another one',
      `${idle}, applied_generation = 7, waits_for = gen_random_uuid()`,
    ],
  ])('%s is revived', async (_, state) => {
    const id = await add();
    await db.query(`update sync.entries set ${state} where id = $1`, [id]);
    expect(await reviveStuckEntries(db)).toBe(1);
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toMatchObject({ generation: 1, verify: true });
  });

  test('is none that is due, enqueued, in progress, done, or waits for the operator or another entry', async () => {
    const [isDue, enqueued, claimed, done, failed, waiting] = [
      await add('due'),
      await add('enqueued'),
      await add('claimed'),
      await add('done'),
      await add('failed'),
      await add('waiting'),
    ];
    await db.query('update sync.entries set announced_at = now(), due_at = null where id = $1', [enqueued]);
    await claim(claimed);
    await complete(await claimOf(done), pushed);
    await failEntry(db, await claimOf(failed), rejected);
    await db.query('update sync.entries set waits_for = $2 where id = $1', [waiting, isDue]);
    await postponeEntry(db, waiting);
    expect(await reviveStuckEntries(db)).toBe(0);
  });
});
