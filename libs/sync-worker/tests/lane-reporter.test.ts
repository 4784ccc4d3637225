import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { ensureLane } from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { LaneReporter } from '../src/limits/lane-reporter.ts';
import { destinationType } from './synced-secret.ts';

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());

/**
 * A destination of its own, and a function that reports that the call of an entry was forbidden. Resolves with the pause in
 * seconds.
 */
async function destination() {
  const laneId = await ensureLane(db, destinationType, randomUUID());
  const destinationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, lane_id)
     values ($1::uuid, 'root', '', $2, $1::text, '{}', $3)`,
    [destinationId, destinationType, laneId],
  );
  const reporter = new LaneReporter(db, silentLogger());
  const call = () => ({ laneId, destinationId, startedAtMs: performance.now() });
  const forbid = async (entryId: string): Promise<number> =>
    reporter.failed(call(), { fault: 'forbidden', retryAfterSeconds: undefined }, entryId);
  const pauseEnds = () =>
    db.query(
      `update sync.destination_health set paused_until = now() - interval '1 minute' where destination_id = $1`,
      [destinationId],
    );
  return { forbid, pauseEnds };
}

test('entries that are forbidden again and again do not pause their destination, unless there are eight', async () => {
  const { forbid } = await destination();
  for (let round = 0; round < 5; round += 1)
    for (const entry of ['a', 'b', 'c']) expect(await forbid(entry)).toBe(0);
  for (const entry of ['d', 'e', 'f', 'g']) expect(await forbid(entry)).toBe(0);
  expect(await forbid('h')).toBeGreaterThan(29);
});

test('while every entry is forbidden, each pause costs one call and is longer than the one before', async () => {
  const { forbid, pauseEnds } = await destination();
  for (let entry = 0; entry < 7; entry += 1) await forbid(`entry ${entry}`);
  const pauses: number[] = [];
  for (const entry of [7, 0, 0, 8, 1, 2, 3, 4, 5]) {
    pauses.push(await forbid(`entry ${entry}`));
    await pauseEnds();
  }
  for (const [index, pause] of pauses.entries())
    expect(pause).toBeGreaterThan(Math.min(3_600, 30 * 2 ** index) - 1);
});
