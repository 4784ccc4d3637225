import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { type EntryStatements, entryStatements } from '../src/entry/entry-statements.ts';
import { SecretValues } from '../src/entry/values/secret-values.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';

const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test');
const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const;
let db: Db;
let statements: EntryStatements;
let locked: string;
let free: string;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());
beforeEach(async () => {
  const lease = { destinationType, owner: 'me', leaseSeconds: 60 };
  statements = entryStatements({ db, unblockedDb: db }, lease, new SecretValues(keyRing, 16));
  [locked, free] = (await insertSyncedSecret(db, keyRing, { a: '1', b: '2' })) as [string, string];
});

/** Runs `work` while the row of an entry is locked. */
async function whileLocked(entryId: string, work: () => Promise<void>): Promise<void> {
  const { promise: isLocked, resolve: onLocked } = Promise.withResolvers<void>();
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    await tx.query('select from sync.entries where id = $1 for update', [entryId]);
    onLocked();
    await isDone;
  });
  await isLocked;
  await work().finally(done);
  await holding;
}

test('a locked entry delays neither the claims nor the completions of others, and is completed when it is released', async () => {
  const { entry: held } = (await statements.claim(locked))!;
  let completed: Promise<boolean> | undefined;
  await whileLocked(locked, async () => {
    completed = statements.complete(held, achieved);
    const other = (await statements.claim(free))!;
    expect(await statements.complete(other.entry, achieved)).toBe(true);
  });
  expect(await completed).toBe(true);
});

test('a claim gives up on an entry that stays locked', async () => {
  await whileLocked(locked, async () => {
    const claim = statements.claim(locked);
    expect(await statements.claim(free)).toBeDefined();
    expect(await claim).toBeUndefined();
  });
});

test('claims an entry that was locked for a moment', async () => {
  let claim: ReturnType<EntryStatements['claim']> | undefined;
  await whileLocked(locked, async () => {
    claim = statements.claim(locked);
    await sleep(5);
  });
  expect(await claim).toBeDefined();
});
