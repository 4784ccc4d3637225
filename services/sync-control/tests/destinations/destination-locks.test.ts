import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, test } from '@jest/globals';
import { openPostgres } from '@secrets/db';
import type { TestDb } from '@secrets/db/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { ensureLane } from '@secrets/sync-entries';
import { upsertAssociation } from '../../src/queries/associations/associations.ts';
import { insertDestination, lockDestination } from '../../src/queries/destinations/destinations.ts';

let db: TestDb;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());

// Otherwise following a secret, which holds an association, waits for a set, which holds the destination and waits for the
// association.
test('a locked destination does not block rows that refer to it', async () => {
  const key = { namespaceId: 'root', type: 'cloudA-sm', name: 'd' };
  const id = randomUUID();
  await insertDestination(db, {
    ...key,
    id,
    namespacePath: '',
    settings: {},
    given: {},
    sealedCredentials: null,
    codehostAppId: null,
    laneId: await ensureLane(db, key.type, 'account'),
  });
  const other = openPostgres({ url: db.url, lockTimeoutMs: 200 });
  const shape = { template: '', granularity: 'secret-path' };
  const association = {
    mount: 'kv',
    accessor: 'kv_1',
    secretName: 's',
    revision: 1,
    namespaceId: 'root',
    shape,
    naming: null,
    byHand: true,
  };
  const ids = { destinationId: id, mountId: randomUUID(), secretId: randomUUID() };
  await db.transaction(async (tx) => {
    await lockDestination(tx, key);
    await upsertAssociation(other, { ...association, ...ids });
  });
  await other.close();
});
