import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import {
  countAssociatedSecrets,
  countAssociations,
} from '../../src/queries/associations/association-counts.ts';
import { countDestinations } from '../../src/queries/destinations/destinations.ts';

const destinations = [randomUUID(), randomUUID()];

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
  for (const [index, id] of destinations.entries())
    await db.query(
      `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
       values ($1, 'root', '', $2, $3, '{}')`,
      [id, index === 0 ? 'cloudA-sm' : 'cloudB-kv', `d${index}`],
    );
  // Every secret has the first destination, two of them have the second one too.
  for (const [destination, secrets] of [
    [destinations[0], 4],
    [destinations[1], 2],
  ])
    await db.query(
      `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
       select $1, 'root', gen_random_uuid(), 'kv', 'kv_1', gen_random_uuid(), 's' || number, 1
         from generate_series(1, $2::int) as number`,
      [destination, secrets],
    );
});
afterAll(() => db.close());

test('counts associations and secrets of a namespace exactly up to the limit, and stops there', async () => {
  expect(await countAssociatedSecrets(db, 'root', 100)).toEqual({ associations: 6, secrets: 4 });
  expect(await countAssociatedSecrets(db, 'root', 6)).toEqual({ associations: 6, secrets: 4 });
  expect(await countAssociatedSecrets(db, 'root', 5)).toEqual({ associations: 5, secrets: 3 });
  expect(await countAssociatedSecrets(db, 'admin', 5)).toEqual({ associations: 0, secrets: 0 });
});

test('counts destinations and their associations up to the limit', async () => {
  expect(await countDestinations(db, 'root', ['cloudA-sm', 'cloudB-kv'], 100)).toBe(2);
  expect(await countDestinations(db, 'root', ['cloudA-sm'], 100)).toBe(1);
  expect(await countDestinations(db, 'root', ['cloudA-sm', 'cloudB-kv'], 1)).toBe(1);
  expect(await countAssociations(db, destinations[0]!, 100)).toBe(4);
  expect(await countAssociations(db, destinations[0]!, 3)).toBe(3);
});
