import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { EntryCounter } from '../../src/metrics/entry-counter.ts';
import { measureDeadLetters, measurePauses, measureQueue } from '../../src/metrics/measure-queue.ts';
import { syncMetrics } from '../../src/metrics/sync-metrics.ts';
import { InstallationWatch } from '../../src/queue/keep-installation.ts';
import { insertMany } from '../insert-many.ts';

const type = 'cloudA-sm';
let db: Db;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
const reset = () => db.query('delete from sync.destinations');
beforeEach(reset);

/** New metrics, and their values by the labels in the order of the text format. */
function observed() {
  const metrics = createMetrics('test', { processMetrics: false });
  const value = async (name: string, ...labels: string[]) => {
    const wanted = [...labels, 'test'].map((label) => `[a-z_]+="${label}"`).join(',');
    return Number(new RegExp(`^${name}\\{${wanted}\\} (.*)$`, 'm').exec(await metrics.text())?.[1] ?? 'none');
  };
  return { ...syncMetrics(metrics), value };
}

/** Inserts entries of a new destination with these assignments. */
async function entries(count: number, assignments: string, status = 'PENDING'): Promise<void> {
  const name = randomUUID();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings) values ('root', '', $1, $2, '{}')`,
    [type, name],
  );
  const id = await insertMany(db, { destination: name, count, status });
  await db.query(`update sync.entries set ${assignments} where destination_id = $1`, [id]);
}

test('lanes and destinations are paused from their first failure until a call succeeds, also between pauses', async () => {
  await entries(1, `due_at = now()`);
  await db.query(`insert into sync.lanes (destination_type, account, failures, paused_until)
    values ('codehost', 'failing', 3, now() - interval '1 minute'), ('codehost', 'fine', 0, now() - interval '1 hour'),
           ('codehost', 'new', 0, null)`);
  await db.query(`insert into sync.destination_health (destination_id, destination_type, failures, paused_until)
    select id, type, 1, now() + interval '1 minute' from sync.destinations`);
  const metrics = observed();
  const paused = () =>
    Promise.all([
      metrics.value('sync_paused', 'codehost', 'lane'),
      metrics.value('sync_paused', type, 'destination'),
    ]);
  await measurePauses(db, metrics);
  expect(await paused()).toEqual([1, 1]);
  await db.query('update sync.lanes set failures = 0');
  await db.query('update sync.destination_health set failures = 0');
  await measurePauses(db, metrics);
  expect(await paused()).toEqual([0, 0]);
  await db.query(`delete from sync.lanes where destination_type = 'codehost'`);
});

test('the queue of a type is measured by state, and by how long the first entry has been due', async () => {
  await entries(3, `due_at = now() - interval '2 minutes'`);
  await entries(2, `due_at = now() + interval '1 hour'`);
  await entries(4, `due_at = null, announced_at = now()`);
  await entries(
    5,
    `due_at = now() + interval '1 hour', lease_until = now() + interval '10 minutes', lease_owner = 'w'`,
  );
  const metrics = observed();
  await measureQueue(db, metrics);
  expect(await metrics.value('sync_queue_entries', type, 'due')).toBe(3);
  expect(await metrics.value('sync_queue_entries', type, 'scheduled')).toBe(2);
  expect(await metrics.value('sync_queue_entries', type, 'enqueued')).toBe(4);
  const oldest = await metrics.value('sync_queue_oldest_seconds', type);
  expect(oldest).toBeGreaterThanOrEqual(120);
  expect(oldest).toBeLessThan(180);
  expect(await metrics.value('sync_queue_entries', 'codehost', 'due')).toBe(0);
  expect(await metrics.value('sync_queue_oldest_seconds', 'codehost')).toBe(0);
});

test('entries are counted by type and status, over several pages of destinations', async () => {
  for (let at = 1; at <= 12; at += 1) await entries(at, 'due_at = null', 'SYNCED');
  await entries(2, 'due_at = null', 'CLIENT_SIDE_ERROR');
  let now = 0;
  const metrics = observed();
  const census = new EntryCounter(db, metrics, () => now);
  const synced = () => metrics.value('sync_entries', type, 'SYNCED');
  await census.advance();
  expect(await synced()).toBeNaN();
  await census.advance();
  expect(await synced()).toBe(78);
  expect(await metrics.value('sync_entries', type, 'CLIENT_SIDE_ERROR')).toBe(2);
  expect(await metrics.value('sync_entries', 'codehost', 'SYNCED')).toBe(0);

  await reset();
  await census.advance();
  expect(await synced()).toBe(78);
  now += 15_000;
  await census.advance();
  expect(await synced()).toBe(0);
});

test('what has drifted is counted by type and kind, and the age of looks is measured in periods', async () => {
  await entries(3, `due_at = null, drift = 'changed'`, 'CLIENT_SIDE_ERROR');
  await entries(2, `due_at = null, drift = 'missing'`, 'SYNCED');
  await db.query(`update sync.inspections set inspected_at = now() - interval '36 hours'`);
  await db.query(`update sync.inspections set inspected_at = now(), due_at = null
    where destination_id = (select destination_id from sync.entries where drift = 'missing' limit 1)`);
  const metrics = observed();
  await new EntryCounter(db, metrics).advance();
  expect(await metrics.value('sync_entries_drifted', type, 'changed')).toBe(3);
  expect(await metrics.value('sync_entries_drifted', type, 'missing')).toBe(2);
  expect(await metrics.value('sync_entries_drifted', type, 'foreign')).toBe(0);
  expect(await metrics.value('sync_inspection_age_periods', type)).toBeCloseTo(1.5, 1);
  expect(await metrics.value('sync_inspection_age_periods', 'codehost')).toBe(0);
});

test('dead letters are measured by queue', async () => {
  const metrics = observed();
  const depths: Record<string, number> = { 'secret-changes': 2, 'sync.codehost': 1 };
  await measureDeadLetters({ deadLetterDepth: async (queue) => depths[queue] ?? 0 }, metrics);
  expect(await metrics.value('sync_dead_letters', 'secret-changes')).toBe(2);
  expect(await metrics.value('sync_dead_letters', 'sync.codehost')).toBe(1);
  expect(await metrics.value('sync_dead_letters', 'sync.clouda-sm')).toBe(0);
});

test('what a sweep finds is counted, from 0', async () => {
  const metrics = observed();
  expect(await metrics.value('sync_sweep_finds_total', 'reconciliation')).toBe(0);
  metrics.found('reconciliation', 2);
  expect(await metrics.value('sync_sweep_finds_total', 'reconciliation')).toBe(2);
});

test('sync_held is 1 while syncing is held, which is logged once, as is the end of it', async () => {
  const lines: string[] = [];
  const log = createLogger({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  const metrics = observed();
  const watch = new InstallationWatch(db, {}, { log, observed: metrics });
  const look = async (otherName: string | null) => {
    await db.query(`update sync.installation set name = 'prod', other_name = $1`, [otherName]);
    await watch.look();
    return metrics.value('sync_held');
  };
  expect([await look(null), await look('copy'), await look('copy'), await look(null)]).toEqual([0, 1, 1, 0]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', heldBecause: 'installation', msg: expect.stringMatching('INSTALLATION=copy') },
    { level: 'info' },
  ]);
});
