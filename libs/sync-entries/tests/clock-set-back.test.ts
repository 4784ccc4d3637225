import { describe, expect, test } from '@jest/globals';
import { sweepDeadlines } from '@secrets/clock';
import {
  countFailedBeforeRetry,
  entryDeadlines,
  failEntry,
  hasWorker,
  liftPause,
  readHealth,
  recordWorker,
  throttledSeconds,
} from '../src/index.ts';
import { destinationType, entriesForTest, pushed, rejected } from './entries-for-test.ts';

const { db, destinationId, add, announce, claim, complete, due, entry } = entriesForTest();

/** Corrects the times as sync-control does ten seconds after the clock was set back. */
async function correct(): Promise<void> {
  await db.query(`update sync.clock set set_back_at = now() - interval '10 seconds'`);
  await sweepDeadlines(db, entryDeadlines);
}
const move = (columns: string, by = '1 hour') =>
  db.query(
    `update sync.entries set ${columns
      .split(', ')
      .map((column) => `${column} = ${column} + $1::interval`)
      .join(', ')}`,
    [by],
  );

describe('after the clock was set back, an entry', () => {
  test('is due', async () => {
    const id = await add();
    await move('due_at');
    expect(await due()).toEqual([]);
    await correct();
    expect(await due()).toEqual([id]);
  });

  test('is tried again', async () => {
    const id = await add();
    await db.query(`update sync.entries set attempts = 1, next_attempt_at = now(), due_at = now()`);
    await move('due_at, next_attempt_at');
    await correct();
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toBeDefined();
  });

  test('can be claimed if it was announced before', async () => {
    const id = await add();
    await announce();
    await db.query(`update sync.entries set next_attempt_at = now() + interval '1 hour'`);
    expect(await claim(id)).toBeUndefined();
    await correct();
    expect(await claim(id)).toBeDefined();
  });

  test('keeps its worker for half a minute', async () => {
    const id = await add();
    const held = (await claim(id))!;
    await move('lease_until, due_at');
    await correct();
    const rows = await db.query<{ seconds: number }>(
      'select extract(epoch from unnest(array[lease_until, due_at]) - now())::float8 as seconds from sync.entries',
    );
    for (const { seconds } of rows) {
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(30);
    }
    expect(await complete(held, pushed)).toBe(true);
    expect((await entry(id))?.status).toBe('SYNCED');
  });

  test('keeps a shorter lease', async () => {
    const id = await add();
    await claim(id, 5);
    await correct();
    expect(
      await db.query(`select from sync.entries where lease_until > now() + interval '5 seconds'`),
    ).toEqual([]);
  });

  test('that failed before a retry was requested is part of it', async () => {
    await failEntry(db, (await claim(await add()))!, rejected);
    await move('updated_at');
    await correct();
    await db.query('update sync.destinations set retry_initiated_at = now()');
    expect(await countFailedBeforeRetry(db, destinationId(), 10)).toBe(1);
  });
});

describe.each([
  ['lane', 'sync.lanes'],
  ['destination', 'sync.destination_health'],
])('after the clock was set back, a pause of a %s', (_what, table) => {
  test('has ended', async () => {
    const id = await add();
    await db.query(
      `update ${table} set paused_until = now() + interval '1 hour', failures = 1, reason = 'throttled'`,
    );
    await correct();
    expect(await throttledSeconds(db, destinationId())).toBe(0);
    expect(await due()).toEqual([id]);
    expect(await claim(id)).toBeDefined();
  });
});

test('after the clock was set back, a lane gets new calls', async () => {
  const id = await add();
  await db.query(`update sync.lanes set tokens = 0, refilled_at = now() + interval '1 hour'`);
  expect(await due()).toEqual([]);
  await correct();
  expect(await due()).toEqual([id]);
});

test('after the clock was set back, a destination is no longer slow', async () => {
  await db.query(`update sync.destination_health set slow_until = now() + interval '1 hour'`);
  await correct();
  expect(await readHealth(db, [destinationId()])).toMatchObject([{ isSlow: false }]);
});

test('after the clock was set back, a pause can be lifted', async () => {
  await db.query(`update sync.lanes set served_at = now() + interval '1 day'`);
  await correct();
  await db.query(`update sync.lanes set paused_until = now() + interval '1 minute', failures = 1`);
  await liftPause(db, destinationId());
  expect(await db.query('select from sync.lanes where paused_until > now()')).toEqual([]);
});

test('after the clock was set back, a worker that has not been heard of since is gone', async () => {
  await recordWorker(db, { id: 'w', destinationType, slots: 1 });
  await db.query(`update sync.workers set seen_at = now() + interval '1 day'`);
  await correct();
  expect(await hasWorker(db, destinationType)).toBe(false);
  await recordWorker(db, { id: 'w', destinationType, slots: 1 });
  expect(await hasWorker(db, destinationType)).toBe(true);
});
