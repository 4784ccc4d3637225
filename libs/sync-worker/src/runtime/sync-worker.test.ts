import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openTestBroker, type TestBroker } from '@secrets/broker/testing';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import { createEgressGuard } from '@secrets/egress';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import {
  admitEntries,
  confirmInstallation,
  entriesOf,
  insertEntries,
  readInstallation,
  requestRemoval,
} from '@secrets/sync-entries';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import type { Driver } from '../driver/driver.ts';
import { createSyncWorker } from './sync-worker.ts';

const destinationType = 'cloudA-sm';
const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test');
const leaseSeconds = 600;

/** A driver with this `remove`. */
function driverThat(remove: () => Promise<void>): Driver {
  const put = async () => ({ remote: null });
  const inspect = async () => ({ exists: false }) as const;
  const list = async () => ({ secrets: [], next: null });
  return {
    type: destinationType,
    connect: async () => ({ put, remove, inspect, list, close: async () => {} }),
  };
}

describe('a worker', () => {
  let db: Db;
  let broker: TestBroker;
  let associationId: string;
  let entryId: string;

  beforeAll(async () => {
    [db, broker] = await Promise.all([openTestDb(), openTestBroker()]);
  });
  afterAll(async () => {
    await broker.close();
    await db.close();
  });

  beforeEach(async () => {
    await db.query('delete from sync.destinations');
    const destinationId = randomUUID();
    associationId = randomUUID();
    await db.query(
      `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings) values ($1, 'root', '', $2, 'd', '{}')`,
      [destinationId, destinationType],
    );
    await db.query(
      `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision, removing)
       values ($1, $2, 'root', $3, 'kv', 'kv_1', $3, 's', 1, true)`,
      [associationId, destinationId, randomUUID()],
    );
    const place = { id: associationId, destinationId, destinationType };
    const [entry] = await insertEntries(db, place, [{ subKey: '', externalName: 'n', collisionKey: 'n' }]);
    entryId = entry!.id;
    await requestRemoval(db, [{ id: entryId, waitsFor: null }]);
  });

  const worker = (driver: Driver, stopGraceSeconds: number, installation?: string) =>
    createSyncWorker(
      driver,
      {
        db,
        broker,
        keyRing,
        egress: createEgressGuard({ allow: [], mayOpen: [] }),
        log: silentLogger(),
        metrics: createMetrics('test', { processMetrics: false }),
      },
      { concurrency: 4, leaseSeconds, prefix: 'secrets', stopGraceSeconds, installation },
    );

  const announce = async () => {
    const { messages } = await admitEntries(db, {
      destinationType,
      budget: { perSecond: 1_000, burst: 1_000 },
    });
    await broker.publish(syncQueue(destinationType), messages);
  };

  /** Announces due entries until the association has none left. */
  const untilGone = async () => {
    while ((await entriesOf(db, [associationId])).length > 0) {
      await announce();
      await sleep(50);
    }
  };

  test('that is stopped cancels a call that does not end, and another worker continues long before the lease ends', async () => {
    const called = Promise.withResolvers<void>();
    const silent = worker(
      driverThat(() => {
        called.resolve();
        return new Promise(() => {});
      }),
      0.1,
    );
    await silent.start();
    await announce();
    await called.promise;
    await silent.stop();
    expect(await entriesOf(db, [associationId])).toMatchObject([{ status: 'PENDING', lastError: null }]);
    expect(await db.query('select from sync.lanes where failures > 0')).toEqual([]);
    const other = worker(
      driverThat(async () => {}),
      5,
    );
    await other.start();
    await untilGone();
    await other.stop();
  }, 60_000);

  test('that is stopped waits for a call that ends within the grace period', async () => {
    const called = Promise.withResolvers<void>();
    const response = Promise.withResolvers<void>();
    const slow = worker(
      driverThat(() => {
        called.resolve();
        return response.promise;
      }),
      60,
    );
    await slow.start();
    await announce();
    await called.promise;
    const stopped = slow.stop();
    response.resolve();
    await stopped;
    expect(await entriesOf(db, [associationId])).toEqual([]);
  });

  test('in the database of another installation calls nothing until somebody confirms', async () => {
    await db.query(`update sync.installation set name = 'prod'`);
    let calls = 0;
    const ofCopy = worker(
      driverThat(async () => {
        calls += 1;
      }),
      5,
      'copy',
    );
    await announce(); // before anything knows of the copy
    await ofCopy.start();
    await eventually(async () => (await readInstallation(db)).heldBecause === 'installation');
    await announce();
    expect(calls).toBe(0);
    await db.transaction((tx) => confirmInstallation(tx, { name: 'copy' }));
    await untilGone();
    expect(calls).toBe(1);
    await ofCopy.stop();
  }, 60_000);
});
