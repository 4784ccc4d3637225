import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { createLogger, createMetrics, type Metrics } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { lookAtClock } from './clock-watch.ts';
import { type DeadlineTable, due, happened, lease } from './deadlines.ts';

const deadlines: readonly DeadlineTable[] = [
  {
    name: 'sync.work',
    key: ['id', 'bigint'],
    columns: { due_at: due, leased_until: lease, done_at: happened('sync') },
  },
];

let db: Db;
let lines: string[];
let metrics: Metrics;
beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `create table sync.work (id bigint primary key generated always as identity,
       due_at timestamptz, leased_until timestamptz, done_at timestamptz)`,
  );
});
afterAll(() => db?.close());
beforeEach(async () => {
  lines = [];
  metrics = createMetrics('test', { processMetrics: false });
  await db.query('truncate sync.work');
  await db.query('update sync.clock set seen_at = now(), set_back_at = null');
});

const look = (isStopping?: () => boolean) => {
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  return lookAtClock({ db, schema: 'sync', deadlines, log, metrics }, isStopping);
};
/** The newest time that was seen looks as it does after the clock was set back. */
const setBack = (by: string) => db.query('update sync.clock set seen_at = now() + $1::interval', [by]);
const passSinceThen = () =>
  db.query(`update sync.clock set set_back_at = set_back_at - interval '11 seconds'`);
const afterSetBack = async (by = '1 hour', isStopping?: () => boolean) => {
  await setBack(by);
  await look();
  await passSinceThen();
  await look(isStopping);
};
const add = (column: string, ahead: string) =>
  db.query(`insert into sync.work (${column}) values (now() + $1::interval)`, [ahead]);

/** Returns by how many seconds a column of the only row lies ahead. */
async function secondsAhead(column: string): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    `select extract(epoch from ${column} - now())::float8 as seconds from sync.work`,
  );
  return row!.seconds;
}
async function newestTime(): Promise<{ seconds: number; isSetBack: boolean }> {
  const [row] = await db.query<{ seconds: number; isSetBack: boolean }>(
    `select extract(epoch from seen_at - now())::float8 as seconds, set_back_at is not null as "isSetBack" from sync.clock`,
  );
  return row!;
}

describe('a clock that was not set back', () => {
  test('is recorded', async () => {
    await setBack('-1 minute');
    await look();
    const { seconds, isSetBack } = await newestTime();
    expect(seconds).toBeGreaterThan(-30);
    expect(isSetBack).toBe(false);
  });

  test('leaves deadlines as they are, also after a usual correction', async () => {
    await add('due_at', '1 hour');
    for (const by of ['-1 minute', '1 second']) {
      await setBack(by);
      await look();
    }
    expect(await newestTime()).toMatchObject({ isSetBack: false });
    expect(await secondsAhead('due_at')).toBeGreaterThan(3_000);
    expect(lines).toEqual([]);
  });
});

describe('after the clock was set back', () => {
  test('deadlines stay until transactions with the earlier clock have ended', async () => {
    await add('due_at', '1 hour');
    await setBack('1 hour');
    await look();
    await look();
    expect(await newestTime()).toMatchObject({ isSetBack: true });
    expect(await secondsAhead('due_at')).toBeGreaterThan(3_000);
  });

  test('what waited is due', async () => {
    await add('due_at', '1 day');
    await afterSetBack();
    expect(await secondsAhead('due_at')).toBeLessThanOrEqual(0);
  });

  test('a lease ends so late that a call in progress is rarely overtaken', async () => {
    await add('leased_until', '1 day');
    await afterSetBack();
    const seconds = await secondsAhead('leased_until');
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(30);
  });

  test('what happened before is earlier than what has happened since', async () => {
    await add('done_at', '1 minute');
    await setBack('1 hour');
    await look();
    await passSinceThen();
    const [{ at }] = (await db.query('select set_back_at::text as at from sync.clock')) as [{ at: string }];
    await look();
    expect(await db.query('select from sync.work where done_at < $1::timestamptz', [at])).toHaveLength(1);
  });

  test('times that do not lie ahead, and empty ones, stay as they are', async () => {
    await add('due_at', '-1 hour');
    await afterSetBack();
    const rows = await db.query(
      'select due_at < now() - $1::interval as same, leased_until, done_at from sync.work',
      ['50 minutes'],
    );
    expect(rows).toEqual([{ same: true, leased_until: null, done_at: null }]);
  });

  test('it is logged and counted once, and later deadlines count again', async () => {
    await afterSetBack('1 hour');
    await look();
    const [logged, ...others] = lines.map((line) => JSON.parse(line));
    expect(logged).toMatchObject({ level: 'warn', schema: 'sync' });
    expect(logged.setBackSeconds).toBeGreaterThanOrEqual(3_600);
    expect(others).toEqual([]);
    expect(await metrics.text()).toContain('database_clock_set_back_total{schema="sync",service="test"} 1');
    expect(await newestTime()).toMatchObject({ isSetBack: false });
    await add('due_at', '1 hour');
    await look();
    expect(await secondsAhead('due_at')).toBeGreaterThan(3_000);
  });

  test('a process that stops leaves the rest to the next one', async () => {
    await add('due_at', '1 hour');
    await afterSetBack('1 hour', () => true);
    expect(await newestTime()).toMatchObject({ isSetBack: true });
    expect(lines).toEqual([]);
    await look();
    expect(lines).toHaveLength(1);
  });

  test('a clock that is set back once more is waited for again', async () => {
    await setBack('2 hours');
    await db.query(`update sync.clock set set_back_at = now() + interval '1 hour'`);
    await add('due_at', '1 hour');
    await look();
    await look();
    expect(await secondsAhead('due_at')).toBeGreaterThan(3_000);
    await passSinceThen();
    await look();
    expect(await secondsAhead('due_at')).toBeLessThanOrEqual(0);
  });

  test('a clock that is right again changes nothing', async () => {
    await add('due_at', '1 hour');
    await setBack('1 hour');
    await look();
    await passSinceThen();
    await setBack('-1 second');
    await look();
    expect(await newestTime()).toMatchObject({ isSetBack: false });
    expect(await secondsAhead('due_at')).toBeGreaterThan(3_000);
  });

  test('each of many rows is corrected', async () => {
    await db.query(
      `insert into sync.work (due_at) select now() + (n % 3 - 1) * interval '1 hour' from generate_series(1, 2500) as n`,
    );
    await afterSetBack();
    expect(await db.query('select from sync.work where due_at > now()')).toEqual([]);
  });

  test('a row that another transaction has locked follows when it is free', async () => {
    await add('due_at', '1 hour');
    await setBack('1 hour');
    await look();
    await passSinceThen();
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: onLocked } = Promise.withResolvers<void>();
    const locking = db.transaction(async (tx) => {
      await tx.query('select from sync.work for update');
      onLocked();
      await isFree;
    });
    await isLocked;
    const looking = look();
    await eventually(async () => (await db.query(waiting)).length > 0).finally(free);
    await locking;
    await looking;
    expect(await secondsAhead('due_at')).toBeLessThanOrEqual(0);
  });
});

/** The connections to this database that wait for a lock. */
const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
