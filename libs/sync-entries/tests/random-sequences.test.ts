import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  announcedEntries,
  type ClaimedEntry,
  completeRemoval,
  failEntry,
  requestPut,
  requestRemoval,
  reviveEntries,
} from '../src/index.ts';
import { destinationType, entriesForTest, pushed } from './entries-for-test.ts';

const { db, admit, add, claim, complete, entry, due, announce, timePasses } = entriesForTest();

/**
 * Intents, announcements, claims, completions, failures, crashes of workers and of the relay in any order, against a
 * minimal model: one external secret, and the value that was written last.
 */
describe('any sequence of intents, announcements, claims, outcomes and crashes', () => {
  type World = {
    id: string;
    newest: number;
    wanted: boolean;
    outside: number | undefined;
    held: (ClaimedEntry & { sees: number })[];
  };
  const finish = async (world: World, held: ClaimedEntry & { sees: number }) => {
    const fresh = (await entry(world.id)) !== undefined && (await isNewest(held));
    if (fresh) world.outside = held.desired === 'absent' ? undefined : held.sees; // the driver's call ends within the lease
    return held.desired === 'absent' ? completeRemoval(db, held) : complete(held, pushed);
  };
  const isNewest = async (held: ClaimedEntry) =>
    (await db.query('select id from sync.entries where id = $1 and fence = $2', [held.id, held.fence]))
      .length === 1;
  const take = async (world: World) => {
    const held = await claim(world.id);
    if (held !== undefined) world.held.push({ ...held, sees: world.newest });
  };

  const steps: Record<string, (world: World) => Promise<unknown>> = {
    write: async (world) => {
      world.newest += 1;
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
    claim: take,
    finish: async (world) => {
      const held = world.held.shift();
      if (held !== undefined) await finish(world, held);
    },
    fail: async (world) => {
      const held = world.held.shift();
      const failed = {
        status: 'EXTERNAL_SERVICE_ERROR',
        fault: 'unavailable',
        error: 'down',
        retryInSeconds: 5,
      } as const;
      if (held !== undefined) await failEntry(db, held, failed);
    },
    workerDies: async (world) => {
      world.held.shift();
    },
    announce,
    schedulerDies: () => admit(),
    timePasses,
  };

  /** Runs until nothing changes: time passes, due and lost entries are announced, and a healthy worker processes them. */
  const settle = async (world: World) => {
    for (let round = 0; round < 4; round++) {
      await timePasses();
      await reviveEntries(db, await announcedEntries(db, destinationType, 100));
      for (const id of await due()) {
        expect(id).toBe(world.id);
        const held = await claim(id);
        if (held !== undefined) await finish(world, { ...held, sees: world.newest });
      }
    }
  };

  test('ends with the wanted external secret and nothing pending', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 25 }), async (names) => {
        await db.query('delete from sync.entries');
        const world: World = { id: await add(), newest: 0, wanted: true, outside: undefined, held: [] };
        for (const name of names) await steps[name]!(world);
        world.held = [];
        await settle(world);
        expect(world.outside).toBe(world.wanted ? world.newest : undefined);
        const left = await entry(world.id);
        if (world.wanted) expect(left).toMatchObject({ status: 'SYNCED', desired: 'present' });
        else expect(left).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });
});
