import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  announcedEntries,
  type ClaimedEntry,
  completeRemoval,
  failEntry,
  handOverEntries,
  requestPut,
  requestRemoval,
  reviveEntries,
  verifyAgain,
} from '../src/index.ts';
import { destinationType, entriesForTest, keepEntries, pushed } from './entries-for-test.ts';

const { db, admit, add, claim, complete, entry, due, announce, timePasses } = entriesForTest();

/**
 * Intents, announcements, claims, completions, failures, crashes of workers and of the relay, and failovers that lose the
 * newest commits, in any order, against a minimal model: one external secret, and the value that was written last.
 */
describe('any sequence of intents, announcements, claims, outcomes, crashes and failovers', () => {
  type Held = ClaimedEntry & { sees: number; isLost: boolean };
  /** State that a failover restores. */
  type Stored = { id: string; newest: number; wanted: boolean };
  type World = Stored & {
    outside: number | undefined;
    held: Held[];
    /** Claims that were lost, or may be, while their workers know it. */
    lost: ClaimedEntry[];
    kept: Stored & { restore(): Promise<void> };
    /** Whether an attempt has ended since then. After a failover, the database has no record of it. */
    hasEnded: boolean;
  };
  let values = 0;
  const keep = async ({ id, newest, wanted }: Stored): Promise<World['kept']> => ({
    id,
    newest,
    wanted,
    ...(await keepEntries(db)),
  });
  const isHeld = async ({ id, fence }: ClaimedEntry) =>
    (await db.query('select id from sync.entries where id = $1 and fence = $2', [id, fence])).length === 1;
  /** The call of the driver, which ends within the lease. */
  const call = async (world: World, held: Held) => {
    if (!held.isLost && !(await isHeld(held))) return;
    const isUnchanged = held.pushedHash === `${held.sees}` && !held.verify && held.attempts === 0;
    if (held.desired === 'absent') world.outside = undefined;
    else if (!isUnchanged) world.outside = held.sees;
  };
  const finish = async (world: World, held: Held) => {
    await call(world, held);
    const done = { ...pushed, pushedHash: `${held.sees}` };
    const isRecorded =
      held.desired === 'absent' ? await completeRemoval(db, held) : await complete(held, done);
    if (isRecorded) world.hasEnded = true;
    else world.lost.push(held);
  };
  const fail = async (world: World, held: Held) => {
    const failed = {
      status: 'EXTERNAL_SERVICE_ERROR',
      fault: 'unavailable',
      error: 'down',
      retryInSeconds: 5,
    } as const;
    if (!(await failEntry(db, held, failed))) world.lost.push(held);
  };
  const take = async (world: World) => {
    const held = await claim(world.id);
    if (held !== undefined) world.held.push({ ...held, sees: world.newest, isLost: false });
  };
  const verifyLost = async (world: World) => {
    const left = await verifyAgain(db, world.lost);
    world.lost = world.lost.filter(({ id }) => left.has(id));
  };

  const steps: Record<string, (world: World) => Promise<unknown>> = {
    write: async (world) => {
      world.newest = ++values;
      await requestPut(db, (await entry(world.id))?.desired === 'present' ? [world.id] : []);
    },
    set: async (world) => {
      if ((await entry(world.id)) === undefined) world.id = await add();
      else await requestPut(db, [world.id], { verify: true });
      world.wanted = true;
    },
    remove: async (world) => {
      await requestRemoval(db, [{ id: world.id, waitsFor: null }]);
      world.wanted = false;
    },
    handOver: async (world) => {
      if ((await entry(world.id)) === undefined) return;
      world.newest += 1;
      await handOverEntries(db, [{ id: world.id, subKey: `k${world.newest}`, externalName: 'n' }]);
      world.wanted = true;
    },
    claim: take,
    read: async ({ held: [held], newest }) => {
      if (held !== undefined) held.sees = newest; // what is read is never older than what was claimed
    },
    finish: async (world) => {
      const held = world.held.shift();
      if (held !== undefined) await finish(world, held);
    },
    fail: async (world) => {
      const held = world.held.shift();
      if (held !== undefined) await fail(world, held);
    },
    failAfterCall: async (world) => {
      const held = world.held.shift();
      if (held === undefined) return;
      await call(world, held);
      await fail(world, held);
    },
    workerDies: async (world) => {
      world.held.shift();
    },
    announce,
    schedulerDies: () => admit(),
    timePasses,
    verifyLost,
    replicate: async (world) => {
      world.kept = await keep(world);
      world.hasEnded = false;
    },
    loseCommits: async (world) => {
      const { restore, ...stored } = world.kept;
      await restore();
      Object.assign(world, stored);
      for (const held of world.held)
        Object.assign(held, { server: 'of before', isLost: held.isLost || !(await isHeld(held)) });
      // What has ended is found by the command that compares everything, which an operator gives after such a failover.
      if (world.hasEnded) await requestOf(world);
      world.hasEnded = false;
    },
  };
  const requestOf = async ({ id, wanted }: World) => {
    if (wanted) await requestPut(db, [id], { verify: true });
    else await requestRemoval(db, [{ id, waitsFor: null }]);
  };

  /** Runs until nothing changes: time passes, due and lost entries are announced, and a healthy worker processes them. */
  const settle = async (world: World) => {
    for (let round = 0; round < 4; round++) {
      await timePasses();
      await verifyLost(world);
      await reviveEntries(db, await announcedEntries(db, destinationType, 100));
      for (const id of await due()) {
        expect(id).toBe(world.id);
        const held = await claim(id);
        if (held !== undefined) await finish(world, { ...held, sees: world.newest, isLost: false });
      }
    }
  };

  /** A claim that is lost with the write that it has seen, while its worker still calls. */
  const lostClaim = ['write', 'claim', 'loseCommits'];
  /** The steps of a lost claim are drawn more often, since it takes several in this order. */
  const drawn = [...Object.keys(steps), ...lostClaim, 'claim', 'loseCommits'];

  test('ends with the wanted external secret and nothing pending', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...drawn), { maxLength: 25 }), async (names) => {
        await db.query('delete from sync.entries');
        const stored = { id: await add(), newest: 0, wanted: true };
        const kept = await keep(stored);
        const world: World = { ...stored, outside: undefined, held: [], lost: [], kept, hasEnded: false };
        for (const name of names) await steps[name]!(world);
        await settle(world);
        // Calls of before a failover may end after those that others have made in their place. Only an operator finds what
        // is written for an entry that is gone by then.
        for (const held of world.held.splice(0))
          if ((await entry(held.id)) !== undefined) await finish(world, held);
        await settle(world);
        expect(world.outside).toBe(world.wanted ? world.newest : undefined);
        const left = await entry(world.id);
        if (world.wanted) expect(left).toMatchObject({ status: 'SYNCED', desired: 'present' });
        else expect(left).toBeUndefined();
      }),
      { numRuns: 100, examples: [[lostClaim]] },
    );
  });
});
