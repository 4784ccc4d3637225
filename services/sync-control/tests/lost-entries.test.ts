import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { insertEntries } from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { reviveLost } from '../src/queue/lost-entries.ts';

const destinationType = 'cloudA-sm';
const lostAfterSeconds = 60;

let db: Db;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
  await db.query('update sync.config set disabled = false');
  const [destinationId, id] = [randomUUID(), randomUUID()];
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1, 'root', '', $2, 'd', '{}')`,
    [destinationId, destinationType],
  );
  await db.query(
    `insert into sync.associations
       (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $2, 'root', $1, 'kv', 'kv_1', $1, 's', 1)`,
    [id, destinationId],
  );
  const wanted = [{ subKey: '', externalName: 'n', collisionKey: 'n' }];
  await insertEntries(db, { id, destinationId, destinationType }, wanted, false);
});

/** Whether an entry that was announced this many seconds ago is announced again while messages wait in its queue. */
async function isRevived({ announcedAgo, ready }: { announcedAgo: number; ready: number }): Promise<boolean> {
  await db.query(`update sync.entries set due_at = null, announced_at = now() - $1 * interval '1 second'`, [
    announcedAgo,
  ]);
  const broker = { depth: async () => ({ ready, consumers: 1 }) } as unknown as Broker;
  await reviveLost({ db, broker, log: silentLogger() }, lostAfterSeconds);
  return (await db.query('select id from sync.entries where due_at is not null')).length > 0;
}

test('an announcement is lost after the limit if its queue is empty, and after 15 times the limit if it is not', async () => {
  expect(await isRevived({ announcedAgo: 50, ready: 0 })).toBe(false);
  expect(await isRevived({ announcedAgo: 70, ready: 0 })).toBe(true);
  expect(await isRevived({ announcedAgo: 70, ready: 1 })).toBe(false);
  expect(await isRevived({ announcedAgo: 15 * 60 + 10, ready: 1 })).toBe(true);
});

test('while syncing is disabled, an announcement is lost only if its queue is empty', async () => {
  await db.query('update sync.config set disabled = true');
  expect(await isRevived({ announcedAgo: 15 * 60 + 10, ready: 1 })).toBe(false);
  expect(await isRevived({ announcedAgo: 70, ready: 0 })).toBe(true);
});

test('a queue whose depth cannot be read does not end the search', async () => {
  const depth = async () => {
    throw new Error('no such queue');
  };
  await expect(
    reviveLost({ db, broker: { depth }, log: silentLogger() }, lostAfterSeconds),
  ).resolves.toBeUndefined();
});
