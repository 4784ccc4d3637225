import { describe, expect, test } from '@jest/globals';
import {
  hasWorker,
  liftPause,
  maxAheadSeconds,
  pullBackEntries,
  readHealth,
  recordWorker,
  reportToLane,
  throttledSeconds,
} from '../src/index.ts';
import { destinationType, entriesForTest } from './entries-for-test.ts';

// What a clock leaves behind that was a day ahead and is set back.
const { db, destinationId, add, announce, claim, complete, due, entry } = entriesForTest();

const pullBack = () => pullBackEntries(db, [destinationType]);
const move = (columns: string, jump = '1 day') =>
  db.query(
    `update sync.entries set ${columns
      .split(', ')
      .map((column) => `${column} = ${column} + $1::interval`)
      .join(', ')}`,
    [jump],
  );
const pushed = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const;

describe('an entry whose time lies further ahead than it can', () => {
  test('is due', async () => {
    const id = await add();
    await move('due_at');
    expect(await due()).toEqual([]);
    expect(await pullBack()).toBe(1);
    expect(await due()).toEqual([id]);
  });

  test('is due if it was admitted and its publication is not recorded', async () => {
    const id = await add();
    await due();
    await move('announced_at, due_at', '10 minutes');
    expect(await pullBack()).toBe(1);
    expect(await due()).toEqual([id]);
  });

  test('is tried again', async () => {
    const id = await add();
    await db.query(`update sync.entries set attempts = 1, next_attempt_at = now(), due_at = now()`);
    await move('due_at, next_attempt_at');
    expect(await pullBack()).toBe(1);
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toBeDefined();
  });

  test('can be claimed, also before a sweep', async () => {
    const id = await add();
    await db.query(`update sync.entries set next_attempt_at = now() + interval '1 day'`);
    expect(await claim(id)).toBeDefined();
  });

  test('keeps its worker for no longer than a lease', async () => {
    const id = await add();
    const held = (await claim(id))!;
    await move('lease_until, due_at');
    expect(await pullBack()).toBe(1);
    expect(await pullBack()).toBe(0);
    const [{ seconds }] = (await db.query<{ seconds: number }>(
      'select extract(epoch from greatest(lease_until, due_at) - now())::float8 as seconds from sync.entries',
    )) as [{ seconds: number }];
    expect(seconds).toBeLessThanOrEqual(30);
    expect(await complete(held, pushed)).toBe(true);
    expect((await entry(id))?.status).toBe('SYNCED');
  });
});

test.each([
  ['lease_until', maxAheadSeconds.lease],
  ['due_at', maxAheadSeconds.attempt],
])('an entry whose %s is as far ahead as it can be stays as it is', async (column, seconds) => {
  await add();
  const owner = column === 'lease_until' ? `'w'` : 'null';
  await db.query(
    `update sync.entries set ${column} = now() + $1 * interval '1 second', lease_owner = ${owner}`,
    [seconds],
  );
  expect(await pullBack()).toBe(0);
});

test('an entry that was published waits for its worker, however long', async () => {
  await add();
  await announce();
  await move('announced_at');
  expect(await pullBack()).toBe(0);
});

describe.each([
  ['lane', 'sync.lanes'],
  ['destination', 'sync.destination_health'],
])('a pause of a %s that ends further ahead than it can', (_what, table) => {
  const paused = (seconds: number) =>
    db.query(
      `update ${table} set paused_until = now() + $1 * interval '1 second', failures = 1, reason = 'throttled'`,
      [seconds],
    );

  test('has ended', async () => {
    const id = await add();
    await paused(86_400);
    expect(await throttledSeconds(db, destinationId())).toBe(0);
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toBeDefined();
  });

  test('does not make a report late', async () => {
    await paused(86_400);
    const [{ laneId }] = (await db.query<{ laneId: string }>(
      'select lane_id as "laneId" from sync.destinations',
    )) as [{ laneId: string }];
    await db.query('select pg_sleep(0.01)');
    await reportToLane(
      db,
      { laneId, destinationId: destinationId() },
      { kind: 'succeeded', count: 1 },
      { tookMs: 0, random: 0 },
    );
    expect(await db.query(`select from ${table} where failures > 0`)).toEqual([]);
  });

  test('holds as long as it can be', async () => {
    const id = await add();
    await paused(maxAheadSeconds.pause);
    expect(await due()).toEqual([]);
    expect(await claim(id)).toBeUndefined();
  });
});

test('a destination is not slow for longer than it can be', async () => {
  await db.query(`update sync.destination_health set slow_until = now() + interval '1 day'`);
  expect(await readHealth(db, [destinationId()])).toMatchObject([{ isSlow: false }]);
});

test('a pause can be lifted although the lane was last served in the future', async () => {
  await db.query(
    `update sync.lanes set served_at = now() + interval '1 day', paused_until = now() + interval '1 minute', failures = 1`,
  );
  await liftPause(db, destinationId());
  expect(await db.query('select from sync.lanes where paused_until > now()')).toEqual([]);
});

test('a worker that was last seen in the future is gone', async () => {
  await recordWorker(db, { id: 'w', destinationType, slots: 1 });
  expect(await hasWorker(db, destinationType)).toBe(true);
  await db.query(`update sync.workers set seen_at = now() + interval '1 day'`);
  expect(await hasWorker(db, destinationType)).toBe(false);
});
