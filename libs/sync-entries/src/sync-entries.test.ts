import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import fc from 'fast-check';
import {
  claimDueEntries,
  endAllLeases,
  markAnnounced,
  postponeEntry,
  releaseDueEntries,
  reviveLostEntries,
} from './announce-entries.ts';
import { type ClaimedEntry, claimEntries } from './claim-entry.ts';
import { type Achieved, completeEntries, completeRemoval, failEntry } from './complete-entry.ts';
import {
  pauseDestination,
  recordDestinationFailure,
  recordDestinationSuccess,
} from './destination-health.ts';
import { countPending } from './queue-state.ts';
import { entriesOf, insertEntries, namesTaken, requestPut, requestRemoval } from './record-intents.ts';

const destinationType = 'cloudA-sm';
const pushed = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: { arn: 'a' } } as const;

let db: Db;
let destinationId: string;
let associationId: string;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db.close());

beforeEach(async () => {
  await db.query('delete from sync.destinations');
  await db.query('update sync.config set disabled = false');
  destinationId = randomUUID();
  associationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings) values ($1, 'root', '', $2, 'd', '{}')`,
    [destinationId, destinationType],
  );
  await db.query(
    `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $2, 'root', $3, 'kv', 'kv_1', $3, 's', 1)`,
    [associationId, destinationId, randomUUID()],
  );
});

const place = () => ({ id: associationId, destinationId, destinationType });
const add = async (name = 'n') =>
  (await insertEntries(db, place(), [{ subKey: '', externalName: name, collisionKey: name }], false))[0]!.id;
const claimAll = (entryIds: string[], leaseSeconds = 30) =>
  claimEntries(db, { entryIds, destinationType, owner: randomUUID(), leaseSeconds });
const claim = async (entryId: string, leaseSeconds = 30) => (await claimAll([entryId], leaseSeconds))[0];
const complete = async (held: ClaimedEntry, achieved: Achieved) =>
  (await completeEntries(db, [{ held, achieved }])).has(held.id);
const entry = async (id: string) => (await entriesOf(db, [associationId])).find((one) => one.id === id);
const due = async () => (await claimDueEntries(db, 100)).entries.map(({ message }) => message.entry_id);
/** Makes everything that lies ahead of an entry come true now: its lease ends, its retry and its announcement are due. */
const timePasses = () =>
  db.query(`update sync.entries set lease_until = lease_until - interval '1 day', due_at = due_at - interval '1 day',
              next_attempt_at = next_attempt_at - interval '1 day', announced_at = announced_at - interval '1 day'`);

const pauseEnds = () =>
  db.query(`update sync.destination_health set paused_until = paused_until - interval '1 day'`);

describe('claim', () => {
  test('only one of many claims holds', async () => {
    const id = await add();
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(id)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  test('a lease that ended is taken over, and its holder has lost', async () => {
    const id = await add();
    const first = (await claim(id))!;
    await timePasses();
    const second = (await claim(id))!;
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await complete(first, pushed)).toBe(false);
    expect(
      await failEntry(db, first, {
        status: 'CLIENT_SIDE_ERROR',
        fault: 'rejected',
        error: 'x',
        retryInSeconds: null,
      }),
    ).toBe(false);
    expect(await complete(second, pushed)).toBe(true);
  });

  test('several at once: each that can be is claimed, and completed if its lease holds', async () => {
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
    expect((await claim(free))?.pushedHash).toBe('free'); // the newer intent has its turn
  });

  test('nothing is claimed while syncing is disabled, nor of another type', async () => {
    const id = await add();
    await db.query('update sync.config set disabled = true');
    expect(await claim(id)).toBeUndefined();
    await db.query('update sync.config set disabled = false');
    expect(
      await claimEntries(db, { entryIds: [id], destinationType: 'other', owner: 'x', leaseSeconds: 1 }),
    ).toEqual([]);
    expect(await claim(id)).toBeDefined();
  });

  test('a destination that pauses pauses alone', async () => {
    const id = await add();
    expect(await recordDestinationFailure(db, destinationId)).toBe(1);
    await pauseEnds();
    expect(await recordDestinationFailure(db, destinationId)).toBe(2);
    await pauseDestination(db, destinationId, 60);
    expect(await claim(id)).toBeUndefined();
    await recordDestinationSuccess(db, destinationId);
    expect(await claim(id)).toBeDefined();
  });

  test('calls that fail together are one failure: a short outage is not taken for a long one', async () => {
    // In one transaction, whose time stands still: together is what happens within 250 ms.
    const failures: number[] = [];
    await db.transaction(async (tx) => {
      for (let call = 0; call < 16; call += 1)
        failures.push(await recordDestinationFailure(tx, destinationId));
    });
    expect(Math.max(...failures)).toBe(1);
    await pauseDestination(db, destinationId, 60);
    expect(await recordDestinationFailure(db, destinationId)).toBe(1);
    await pauseEnds();
    expect(await recordDestinationFailure(db, destinationId)).toBe(2);
  });

  test('what was achieved is not claimed again', async () => {
    const id = await add();
    await complete((await claim(id))!, pushed);
    expect(await claim(id)).toBeUndefined();
    expect(await due()).toEqual([]);
  });

  test('an old name goes only after the new one is there', async () => {
    const [old, fresh] = [await add('old'), await add('new')];
    await complete((await claim(old))!, pushed);
    await requestRemoval(db, [{ id: old, waitsFor: fresh }]);
    expect(await claim(old)).toBeUndefined();
    const held = (await claim(fresh))!;
    await failEntry(db, held, {
      status: 'CLIENT_SIDE_ERROR',
      fault: 'forbidden',
      error: 'x',
      retryInSeconds: null,
    });
    expect(await claim(old)).toBeUndefined();
    await requestPut(db, [fresh]);
    await complete((await claim(fresh))!, pushed);
    expect(await claim(old)).toBeDefined();
  });

  test('an old name goes too when there is nothing readable to be had under the new one', async () => {
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
});

describe('completion', () => {
  test('what was completed stays so, whatever its holder believes: its answer may have been lost', async () => {
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

  test('a newer intent makes the entry go round again', async () => {
    const id = await add();
    const held = (await claim(id))!;
    await requestPut(db, [id]);
    expect(await due()).toEqual([]); // not before whoever holds it is done
    await complete(held, pushed);
    expect(await entry(id)).toMatchObject({ status: 'PENDING', generation: 2, appliedGeneration: 1 });
    expect(await due()).toEqual([id]);
    expect((await claim(id))?.generation).toBe(2);
  });

  test('a failure that can pass is tried again later, not earlier', async () => {
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

  test('one that waits for the operator stays, until a new intent', async () => {
    const id = await add();
    await failEntry(db, (await claim(id))!, {
      status: 'CLIENT_SIDE_ERROR',
      fault: 'rejected',
      error: 'bad',
      retryInSeconds: null,
    });
    await timePasses();
    expect(await due()).toEqual([]);
    await requestPut(db, [id]);
    expect(await due()).toEqual([id]);
    expect(await entry(id)).toMatchObject({ status: 'PENDING', lastError: null, attempts: 0 });
  });

  test('the last removal takes the association with it, even when two end at once', async () => {
    const ids = [await add('a'), await add('b')];
    await db.query('update sync.associations set removing = true where id = $1', [associationId]);
    await requestRemoval(
      db,
      ids.map((id) => ({ id, waitsFor: null })),
    );
    const held = await Promise.all(ids.map((id) => claim(id)));
    await Promise.all(held.map((one) => completeRemoval(db, one!)));
    expect(await db.query('select id from sync.associations where id = $1', [associationId])).toEqual([]);
  });

  test('set again during a removal: the row stays and is pushed anew', async () => {
    const id = await add();
    await requestRemoval(db, [{ id, waitsFor: null }]);
    const held = (await claim(id))!;
    await requestPut(db, [id]);
    expect(await completeRemoval(db, held)).toBe(true);
    expect(await entry(id)).toMatchObject({ desired: 'present', status: 'PENDING', remote: null });
    expect(await due()).toEqual([id]);
  });
});

describe('announcements', () => {
  test('are claimed once, and again when nobody marks them announced', async () => {
    const id = await add();
    expect(await due()).toEqual([id]);
    expect(await due()).toEqual([]);
    await timePasses();
    expect(await due()).toEqual([id]);
  });

  test('a thousand changes of a waiting entry are one announcement', async () => {
    const id = await add();
    const claimed = await claimDueEntries(db, 10);
    await markAnnounced(db, [id], claimed.claimXid);
    for (let change = 0; change < 10; change++) await requestPut(db, [id]);
    expect(await due()).toEqual([]);
    expect((await claim(id))?.generation).toBe(11);
  });

  test('marking does not undo what a worker or an intent did meanwhile', async () => {
    const id = await add();
    const { claimXid } = await claimDueEntries(db, 10);
    await requestPut(db, [id]);
    await markAnnounced(db, [id], claimXid);
    expect(await due()).toEqual([id]);
  });

  test('lost ones are revived, those in a worker’s hands are not', async () => {
    const [lost, held] = [await add('lost'), await add('held')];
    const { claimXid } = await claimDueEntries(db, 10);
    await markAnnounced(db, [lost, held], claimXid);
    expect(await claim(held)).toBeDefined();
    await db.query(`update sync.entries set announced_at = announced_at - interval '2 minutes'`);
    expect(await reviveLostEntries(db, destinationType, 60)).toBe(1);
    expect(await due()).toEqual([lost]);
  });

  test('what could not be published is due again at once, unless something moved it since', async () => {
    const [waits, moved] = [await add('waits'), await add('moved')];
    const { claimXid } = await claimDueEntries(db, 10);
    expect(await claim(moved)).toBeDefined();
    // The claim came in the same instant, so that both end at the same time.
    await db.query(
      'update sync.entries set due_at = (select due_at from sync.entries where id = $1) where id = $2',
      [waits, moved],
    );
    await releaseDueEntries(db, [waits, moved], claimXid);
    expect(await due()).toEqual([waits]);
  });

  test('what a relay notes does not wait for an entry that somebody is about to move', async () => {
    const [free, locked] = [await add('free'), await add('locked')];
    const stateOf = () =>
      db.query('select external_name as name, due_at <= now() as due from sync.entries order by 1');
    const { claimXid } = await claimDueEntries(db, 10);
    const [isLocked, isNoted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const moving = db.transaction(async (tx) => {
      await requestPut(tx, [locked]);
      isLocked.resolve();
      await isNoted.promise;
    });
    await isLocked.promise;
    await markAnnounced(db, [free, locked], claimXid);
    await releaseDueEntries(db, [free, locked], claimXid);
    isNoted.resolve();
    await moving;
    expect(await stateOf()).toEqual([
      { name: 'free', due: null },
      { name: 'locked', due: true },
    ]);
  });

  test('an announcement of what is achieved already is forgotten, not revived for ever', async () => {
    const id = await add();
    await complete((await claim(id))!, pushed);
    await db.query('update sync.entries set announced_at = now() where id = $1', [id]);
    await postponeEntry(db, id);
    expect(await reviveLostEntries(db, destinationType, -1)).toBe(0);
    expect(await due()).toEqual([]);
  });

  test('an entry that cannot be worked on now is put off, not dropped', async () => {
    const id = await add();
    await claim(id);
    await postponeEntry(db, id);
    expect(await due()).toEqual([]);
    await timePasses();
    expect(await due()).toEqual([id]);
  });

  test('one that waits for another is put off for as long again as it has waited, five minutes at most', async () => {
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

  test('a process that is alone ends what a dead one held', async () => {
    const id = await add();
    await claim(id);
    await endAllLeases(db);
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toBeDefined();
  });

  test('an entry that was under way at death after death waits a little longer each time', async () => {
    const id = await add();
    const die = async () => {
      expect(await claim(id)).toBeDefined();
      await endAllLeases(db);
    };
    await die();
    await die();
    const { nextAttemptAt } = (await entry(id))!;
    expect(nextAttemptAt!.getTime() - Date.now()).toBeLessThan(1_500);
    await db.query(`update sync.entries set next_attempt_at = next_attempt_at + interval '1 hour'`); // so that it is ahead
    expect(await claim(id)).toBeUndefined();
    for (let deaths = 0; deaths < 12; deaths += 1) {
      await timePasses();
      await die();
    }
    expect((await entry(id))!.nextAttemptAt!.getTime() - Date.now()).toBeLessThanOrEqual(60_000);
  });

  test('pending operations are counted up to the bound', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, index) => add(`n${index}`)));
    expect(await countPending(db, 100)).toBe(5);
    expect(await countPending(db, 3)).toBe(3);
    const { entries, claimXid } = await claimDueEntries(db, 2);
    await markAnnounced(
      db,
      entries.map(({ message }) => message.entry_id),
      claimXid,
    );
    expect(await countPending(db, 100)).toBe(5);
  });

  test('a name is taken once per destination, and its holder is named', async () => {
    await add('same');
    await expect(add('same')).rejects.toMatchObject({ code: '23505' });
    expect(await namesTaken(db, destinationId, ['same', 'free'])).toMatchObject([
      { mount: 'kv', secretName: 's' },
    ]);
  });
});

/**
 * Intents, announcements, claims, completions, failures, crashes of workers and of the relay in any order, against the
 * smallest model: one external secret, and the value that was written last.
 */
describe('whatever happens in whatever order', () => {
  type World = {
    id: string;
    newest: number;
    wanted: boolean;
    outside: number | undefined;
    held: (ClaimedEntry & { sees: number })[];
  };
  const finish = async (world: World, held: ClaimedEntry & { sees: number }) => {
    const fresh = (await entry(world.id)) !== undefined && (await isNewest(held));
    if (fresh) world.outside = held.desired === 'absent' ? undefined : held.sees; // a driver's call bounded by its lease
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
    announce: async () => {
      const { entries, claimXid } = await claimDueEntries(db, 10);
      await markAnnounced(
        db,
        entries.map(({ message }) => message.entry_id),
        claimXid,
      );
    },
    relayDies: () => claimDueEntries(db, 10),
    timePasses,
  };

  /** Lets the world come to rest: time passes, what is due or lost is announced, and a healthy worker takes it. */
  const settle = async (world: World) => {
    for (let round = 0; round < 4; round++) {
      await timePasses();
      await reviveLostEntries(db, destinationType, 60);
      for (const id of await due()) {
        expect(id).toBe(world.id);
        const held = await claim(id);
        if (held !== undefined) await finish(world, { ...held, sees: world.newest });
      }
    }
  };

  test('outside ends up as it is wanted, and nothing stays pending', async () => {
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
  }, 120_000);
});
