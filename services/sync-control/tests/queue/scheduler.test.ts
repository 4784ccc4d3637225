import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '@secrets/broker';
import type { TestDb } from '@secrets/db/testing';
import { Problem, syncQueue } from '@secrets/domain';
import { openTestDb } from '@secrets/schemas/testing';
import { admitEntries } from '@secrets/sync-entries';
import { createLogger, silentLogger } from '@secrets/telemetry';
import { type Scheduler, startScheduler } from '../../src/queue/scheduler.ts';
import { insertMany } from '../insert-many.ts';
import { eventually } from '../sync-control-for-test.ts';

const budget = { perSecond: 1_000, burst: 1_000 };
const confirmTimeoutSeconds = 10;

let db: TestDb;
let running: Scheduler[] = [];

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
  await db.query('delete from sync.lanes');
});
afterEach(async () => {
  await Promise.all(running.map((scheduler) => scheduler.stop()));
  running = [];
});

/** Inserts a destination of this type with due entries. */
async function insertDue(type: string, count: number): Promise<string> {
  const name = randomUUID();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings) values ('root', '', $1, $2, '{}')`,
    [type, name],
  );
  await db.query('update sync.lanes set window_size = 64');
  const id = await insertMany(db, { destination: name, count, status: 'PENDING' });
  await db.query(
    `insert into sync.destination_health (destination_id, destination_type, window_size) values ($1, $2, 64)`,
    [id, type],
  );
  await db.query('update sync.entries set applied_generation = 0, due_at = now() where destination_id = $1', [
    id,
  ]);
  return id;
}

function start(types: readonly string[], publish: Broker['publish']): void {
  const budgets = Object.fromEntries(types.map((type) => [type, budget]));
  running.push(startScheduler({ db, broker: { publish }, log: silentLogger(), budgets }));
}

const countAnnounced = async (destinationId: string): Promise<number> => {
  const rows = await db.query(
    'select id from sync.entries where destination_id = $1 and announced_at is not null and due_at is null',
    [destinationId],
  );
  return rows.length;
};

test('a type whose queue is missing, and an unknown type, affect no other type', async () => {
  const [missing, unknown, healthy] = [
    await insertDue('missing', 3),
    await insertDue('unknown', 3),
    await insertDue('healthy', 10),
  ];
  let refused = 0;
  start(['missing', 'healthy'], async (queue) => {
    if (queue !== syncQueue('missing')) return;
    refused += 1;
    throw new Problem('unavailable', 'the queue was removed from the broker');
  });
  await eventually(async () => (await countAnnounced(healthy)) === 10);
  await eventually(async () => refused > 1); // it is tried again
  const more = await insertDue('healthy', 10);
  await eventually(async () => (await countAnnounced(more)) === 10);
  expect([await countAnnounced(missing), await countAnnounced(unknown)]).toEqual([0, 0]);
});

test('a broker that confirms slowly gets each message once, also from two schedulers', async () => {
  const id = await insertDue('slow', 20);
  const published: unknown[] = [];
  const publish: Broker['publish'] = async (_queue, messages) => {
    published.push(...messages);
    await sleep(6_000);
  };
  start(['slow'], publish);
  start(['slow'], publish);
  await eventually(async () => (await countAnnounced(id)) === 20);
  expect(published).toHaveLength(20);
});

test('an admission lasts longer than the broker may take to confirm it', async () => {
  await insertDue('slow', 1);
  await admitEntries(db, { destinationType: 'slow', budget });
  const [row] = await db.query<{ seconds: number }>(
    'select extract(epoch from due_at - now())::float8 as seconds from sync.entries',
  );
  expect(row!.seconds).toBeGreaterThan(2 * confirmTimeoutSeconds);
});

test('an outage that all types meet is one line in the log', async () => {
  const lines: string[] = [];
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  let failures = 0;
  const away = async (): Promise<never> => {
    failures += 1;
    throw new Problem('unavailable', 'the database is away');
  };
  const budgets = { codehost: budget, 'cloudA-sm': budget, 'cloudB-kv': budget };
  const dbAway = { ...db, query: away, transaction: away };
  running.push(startScheduler({ db: dbAway, broker: { publish: async () => undefined }, log, budgets }));
  await eventually(async () => failures > 6); // each of three types has failed twice
  expect(lines.filter((line) => line.includes('the database is away'))).toHaveLength(1);
  expect(lines).toHaveLength(1);
});
