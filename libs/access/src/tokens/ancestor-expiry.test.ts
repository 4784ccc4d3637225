import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { createAuthenticator } from '../authenticator.ts';
import { insertToken } from '../testing.ts';
import { type BatchToken, batchTokenKeyRing, sealBatchToken } from './token.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const mountId = randomUUID();
let db: Db;

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `insert into login.auth_mounts (id, namespace_id, path, type, accessor)
     values ($1, 'root', 'cloudB', 'cloudB', 'a1')`,
    [mountId],
  );
});
afterAll(() => db.close());

const inMs = (ms: number) => new Date(Date.now() + ms);

function newGateway() {
  let offsetMs = 0;
  const authenticator = createAuthenticator({ db, keys, clock: () => Date.now() + offsetMs });
  return {
    advanceClock: (ms: number) => {
      offsetMs += ms;
    },
    allows: async (token: string) => {
      const decision = await authenticator.authenticate({
        token,
        namespace: undefined,
        operation: 'read',
        path: 'kv/data/a',
        remoteAddress: '10.0.0.1',
        requestId: 'r',
      });
      return decision.allowed;
    },
  };
}

function batchToken(over: Partial<BatchToken>): string {
  const payload: BatchToken = {
    accessor: null,
    namespace_id: 'root',
    policies: ['root'],
    display_name: 'b',
    entity_id: null,
    metadata: {},
    creation_path: 'auth/token/create',
    created_at: new Date().toISOString(),
    expires_at: inMs(3_600_000).toISOString(),
    bound_cidrs: [],
    parent_accessor: null,
    mount_id: null,
    ...over,
  };
  return sealBatchToken(batchTokenKeyRing(keys), payload).reveal();
}

test('a token expires with its ancestors, and is valid again once they are renewed', async () => {
  const grandparent = await insertToken(db, { expiresAt: inMs(60_000) });
  const parent = await insertToken(db, { parentAccessor: grandparent.accessor });
  const child = await insertToken(db, { parentAccessor: parent.accessor, expiresAt: inMs(3_600_000) });
  const batch = batchToken({ parent_accessor: parent.accessor });
  const { allows, advanceClock } = newGateway();
  const all = () => Promise.all([child.token, parent.token, batch].map(allows));
  expect(await all()).toEqual([true, true, true]);
  advanceClock(61_000);
  expect(await all()).toEqual([false, false, false]);
  await db.query('update login.tokens set expires_at = $2::timestamptz where accessor = $1', [
    grandparent.accessor,
    inMs(600_000).toISOString(),
  ]);
  expect(await all()).toEqual([true, true, true]);
});

test('a batch token is invalid once the auth mount that issued it is disabled', async () => {
  const token = batchToken({ mount_id: mountId });
  const { allows } = newGateway();
  expect(await allows(token)).toBe(true);
  await db.transaction(async (tx) => {
    await tx.query('delete from login.auth_mounts where id = $1', [mountId]);
    await tx.query('update login.access_epoch set value = value + 1');
  });
  expect(await allows(token)).toBe(false);
});
