import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  admitEntries,
  failEntry,
  liftPause,
  postponeEntry,
  recordSlowDestination,
  recordWorker,
  reportToLane,
  useSpareBudget,
} from '../src/index.ts';
import { destinationType, entriesForTest } from './entries-for-test.ts';

const { db, destinationId, add, claim, due, announce, complete, timePasses } = entriesForTest();
const at = { tookMs: -86_400_000, random: 0 }; // began after every pause
const late = { tookMs: 20_000, random: 0 };
const unlimited = { perSecond: 1_000_000, burst: 1_000_000 };

let laneId: string;
beforeEach(async () => {
  const [row] = await db.query<{ id: string }>('select lane_id as id from sync.destinations where id = $1', [
    destinationId(),
  ]);
  laneId = row!.id;
});

const addMany = async (count: number) => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await add(`n${index}`));
  return ids;
};
const setWindow = async (size: number) => {
  await db.query('update sync.lanes set window_size = $1', [size]);
  await db.query('update sync.destination_health set window_size = $1', [size]);
};
const lane = () => ({ laneId, destinationId: destinationId() });
const fail = (
  fault: 'throttled' | 'unavailable' | 'unauthenticated' | 'forbidden',
  retryAfterSeconds?: number,
) => reportToLane(db, lane(), { kind: 'failed', fault, retryAfterSeconds }, at);
const pauseEnds = async () => {
  await db.query(`update sync.lanes set paused_until = now() - interval '1 second'`);
  await db.query(`update sync.destination_health set paused_until = now() - interval '1 second'`);
};

describe('a window', () => {
  test('bounds how many entries are outstanding, enqueued or in progress', async () => {
    const ids = await addMany(5);
    await setWindow(3);
    expect(await due()).toHaveLength(3);
    expect(await due()).toEqual([]);
    await complete((await claim(ids[0]!))!, {
      status: 'SYNCED',
      pushedHash: 'h',
      settingsHash: 's',
      remote: null,
    });
    expect(await due()).toHaveLength(1);
  });

  test('is not exceeded by several schedulers at once', async () => {
    await addMany(20);
    await setWindow(4);
    const options = { destinationType, budget: unlimited };
    const rounds = await Promise.all(Array.from({ length: 8 }, () => admitEntries(db, options)));
    expect(rounds.flatMap(({ messages }) => messages)).toHaveLength(4);
  });

  test('grows with reported successes', async () => {
    await addMany(10);
    await setWindow(2);
    await reportToLane(db, lane(), { kind: 'succeeded', count: 3 }, at);
    expect(await due()).toHaveLength(5);
  });
});

test('the queue of a type is kept short in proportion to the slots of its workers', async () => {
  await addMany(20);
  await recordWorker(db, { id: 'w', destinationType, slots: 4 });
  expect(await due()).toHaveLength(12);
  await db.query('delete from sync.workers');
});

test('no more entries are admitted than the budget has calls', async () => {
  await addMany(20);
  const budget = { perSecond: 0.01, burst: 5 };
  expect((await admitEntries(db, { destinationType, budget })).messages).toHaveLength(5);
  expect((await admitEntries(db, { destinationType, budget })).messages).toHaveLength(0);
  await db.query(`update sync.lanes set refilled_at = refilled_at - interval '210 seconds'`);
  expect((await admitEntries(db, { destinationType, budget })).messages).toHaveLength(2);
});

test('only admitted entries are taken out of the budget, however large the window is', async () => {
  const budget = { perSecond: 0.001, burst: 5 };
  const admitted = async () => (await admitEntries(db, { destinationType, budget })).messages.length;
  for (let count = 0; count < 5; count += 1) {
    await add(`n${count}`);
    expect(await admitted()).toBe(1);
  }
  await add('one too many');
  expect(await admitted()).toBe(0);
});

test.each([
  [50, 25],
  [5, 2],
  [1, 1], // codehost
])(
  'calls that can wait get half of a full budget (of %d calls: %d), but at least one',
  async (burst, spare) => {
    await db.query('update sync.lanes set tokens = $1, refilled_at = now()', [burst]);
    const budget = { perSecond: 0, burst };
    expect(await useSpareBudget(db, destinationId(), 100, budget)).toBe(spare);
    expect(await useSpareBudget(db, destinationId(), 100, budget)).toBe(0);
  },
);

test.each([
  ['of a round by period', 1 / 2],
  ['that was requested', 1 / 4],
])('while entries wait for the budget, looks %s get less than a fifth of it', async (_, keptShare) => {
  await addMany(300);
  await setWindow(64);
  const budget = { perSecond: 10, burst: 50 };
  const calls = { entries: 0, looks: 0 };
  await db.query('update sync.lanes set tokens = 50, refilled_at = now()');
  for (let second = 0; second < 20; second += 1) {
    calls.looks += await useSpareBudget(db, destinationId(), 1_000, budget, { keptShare });
    calls.entries += (await admitEntries(db, { destinationType, budget })).messages.length;
    await db.query(
      `update sync.entries set announced_at = null, due_at = null where announced_at is not null`,
    );
    await db.query(`update sync.lanes set refilled_at = refilled_at - interval '1 second'`);
  }
  expect(calls.entries).toBeGreaterThan(150);
  expect(calls.looks / (calls.looks + calls.entries)).toBeLessThan(1 / 5);
});

test('a round says whether more may be due than it has admitted', async () => {
  await addMany(3);
  const isBusy = async () => (await admitEntries(db, { destinationType, budget: unlimited })).isBusy;
  await setWindow(2);
  expect(await isBusy()).toBe(true);
  expect(await isBusy()).toBe(true);
  await setWindow(64);
  expect(await isBusy()).toBe(false);
});

test('no more entries are admitted than may be outstanding by the budget', async () => {
  const [first] = await addMany(3);
  const budget = { perSecond: 1_000, burst: 1_000, maxOutstanding: 1 };
  const admitted = async () => (await admitEntries(db, { destinationType, budget })).messages.length;
  expect([await admitted(), await admitted()]).toEqual([1, 0]);
  await complete((await claim(first!))!, {
    status: 'SYNCED',
    pushedHash: 'h',
    settingsHash: 's',
    remote: null,
  });
  expect([await admitted(), await admitted()]).toEqual([1, 0]);
});

test('what users asked for goes before retries', async () => {
  const [retry, asked] = await addMany(2);
  await db.query('update sync.entries set priority = 1 where id = $1', [retry]);
  await setWindow(1);
  expect(await due()).toEqual([asked]);
});

test('an entry whose worker died is admitted again, also where it fills the window', async () => {
  const [id] = await addMany(1);
  await setWindow(1);
  await announce();
  await claim(id!);
  expect(await due()).toEqual([]);
  await timePasses();
  expect(await due()).toEqual([id]);
});

test('an entry that waits after its worker died leaves the window to others', async () => {
  const [dead, other] = await addMany(2);
  await setWindow(1);
  await claim(dead!);
  await timePasses();
  await postponeEntry(db, dead!, 60);
  expect(await due()).toEqual([other]);
});

test('a lane that another transaction changes has its turn later, without waiting for it', async () => {
  await addMany(1);
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const other = db.transaction(async (tx) => {
    await tx.query('select from sync.lanes where id = $1 for no key update', [laneId]);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  expect(await due()).toEqual([]);
  release.resolve();
  await other;
  expect(await due()).toHaveLength(1);
});

test('a success ends the mark of a slow destination, also where the window cannot grow', async () => {
  await setWindow(64);
  await recordSlowDestination(db, destinationId());
  await reportToLane(db, lane(), { kind: 'succeeded', count: 1 }, at);
  expect(await db.query('select from sync.destination_health where slow_until is not null')).toEqual([]);
});

describe('a pause', () => {
  test('is not repeated for a late fault of a call that began before it was lifted', async () => {
    await addMany(1);
    await fail('unauthenticated');
    await liftPause(db, destinationId());
    const report = { kind: 'failed', fault: 'unauthenticated', retryAfterSeconds: undefined } as const;
    expect((await reportToLane(db, lane(), report, late)).pausedForSeconds).toBe(0);
    expect(await due()).toHaveLength(1);
  });

  test('that is lifted makes the entries due that were postponed until its end', async () => {
    const [id] = await addMany(1);
    const held = (await claim(id!))!;
    await fail('unavailable', 3_000);
    await failEntry(db, held, {
      status: 'PENDING',
      fault: 'unavailable',
      error: 'down',
      retryInSeconds: 3_000,
    });
    await liftPause(db, destinationId());
    expect(await due()).toEqual([id]);
    expect(await claim(id!)).toBeDefined();
  });

  test('keeps entries from being admitted and claimed, without rewriting them', async () => {
    const ids = await addMany(10);
    await fail('unavailable', 3_600);
    const states = () => db.query('select xmin::text from sync.entries order by id');
    const before = await states();
    expect(await due()).toEqual([]);
    expect(await claim(ids[0]!)).toBeUndefined();
    expect(await states()).toEqual(before);
  });

  test('is followed by one probe, which reopens half of the window if it succeeds', async () => {
    await addMany(40);
    await setWindow(16);
    await fail('throttled', 1);
    await pauseEnds();
    const [probe] = await due();
    expect(await due()).toEqual([]);
    await complete((await claim(probe!))!, {
      status: 'SYNCED',
      pushedHash: 'h',
      settingsHash: 's',
      remote: null,
    });
    await reportToLane(db, lane(), { kind: 'succeeded', count: 1 }, at);
    expect(await due()).toHaveLength(8);
  });

  test('is lifted for a probe when an operator acts, and not by a late success', async () => {
    await addMany(3);
    await fail('unauthenticated');
    await reportToLane(db, lane(), { kind: 'succeeded', count: 1 }, late);
    expect(await due()).toEqual([]);
    await liftPause(db, destinationId());
    expect(await due()).toHaveLength(1);
  });

  test.each([
    ['unauthenticated', 1],
    ['unavailable', 0],
  ] as const)(
    'because of %s is lifted by a change of the destination right after an attempt: %i is admitted',
    async (fault, admitted) => {
      await addMany(3);
      await fail(fault, 3_600);
      await db.transaction(async (tx) => {
        await tx.query('update sync.lanes set served_at = now()');
        await liftPause(tx, destinationId());
      });
      expect(await due()).toEqual([]);
      await liftPause(db, destinationId(), { isChanged: true });
      expect(await due()).toHaveLength(admitted);
    },
  );

  test('does not grow with probes that operators ask for', async () => {
    await addMany(3);
    const before = (await fail('unavailable')).pausedForSeconds;
    const lift = async () => {
      await db.query(
        `update sync.destination_health set paused_until = paused_until + interval '30 minutes'`,
      );
      await liftPause(db, destinationId());
    };
    for (let probe = 0; probe < 8; probe += 1) {
      await lift();
      await fail('unavailable');
    }
    await lift();
    expect((await fail('unavailable')).pausedForSeconds).toBeLessThan(before * 3);
  });

  test('lasts an hour at most, whatever the provider asks for', async () => {
    expect((await fail('throttled', 86_400)).pausedForSeconds).toBeLessThanOrEqual(3_600);
  });

  test('of an account begins when a second destination of it is throttled, and concerns no other lane', async () => {
    await addMany(1);
    const second = await addNeighbour('same lane');
    const third = await addNeighbour('same lane');
    const other = await addNeighbour('other lane');
    await fail('throttled', 3_600);
    expect(new Set(await due())).toEqual(new Set([second.entry, third.entry, other.entry]));
    await timePasses();
    const report = { kind: 'failed', fault: 'throttled', retryAfterSeconds: 3_600 } as const;
    await reportToLane(db, { laneId, destinationId: second.destination }, report, at);
    expect(await due()).toEqual([other.entry]);
  });

  test.each(['throttled', 'unavailable', 'unauthenticated'] as const)(
    'of a destination (%s) leaves the others of its lane alone',
    async (fault) => {
      await addMany(1);
      const neighbour = await addNeighbour('same lane');
      await fail(fault, 3_600);
      expect(await due()).toEqual([neighbour.entry]);
    },
  );

  test('of a destination begins when its calls are forbidden eight times in a row', async () => {
    await addMany(1);
    for (let call = 0; call < 7; call += 1) expect((await fail('forbidden')).pausedForSeconds).toBe(0);
    expect((await fail('forbidden')).pausedForSeconds).toBeGreaterThan(29);
    expect(await due()).toEqual([]);
  });
});

/** Adds another destination with one due entry, and returns their IDs. */
async function addNeighbour(
  where: 'same lane' | 'other lane',
): Promise<{ destination: string; entry: string }> {
  const id = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, lane_id)
     values ($1::uuid, 'root', '', $2, $1::uuid::text, '{}', $3)`,
    [id, destinationType, where === 'same lane' ? laneId : null],
  );
  await db.query(
    `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $1, 'root', $1, 'kv', 'kv_1', $1, 's', 1)`,
    [id],
  );
  const [entry] = await db.query<{ id: string }>(
    `insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key)
     values ($1, $1, $2, 'x', 'x') returning id`,
    [id, destinationType],
  );
  return { destination: id, entry: entry!.id };
}

test('an admitted entry whose scheduler died is admitted again, also where it fills the window', async () => {
  const [id] = await addMany(1);
  await setWindow(1);
  expect(await due()).toEqual([id]);
  await timePasses();
  await announce();
  expect(await claim(id!)).toBeDefined();
});
