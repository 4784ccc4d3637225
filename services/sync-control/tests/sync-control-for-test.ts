import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from '@jest/globals';
import { openTestBroker, type TestBroker } from '@secrets/broker/testing';
import type { Caller } from '@secrets/caller';
import { readConfig } from '@secrets/config';
import { type Db, openPostgres } from '@secrets/db';
import type { TestDb } from '@secrets/db/testing';
import type { StoreAnswer, StoreQuestion } from '@secrets/domain';
import {
  serveForTest,
  type TestResponse,
  type TestService,
  testCaller,
  testKeys,
} from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { createSecrets } from '@secrets/secrets';
import {
  answerStoreRead,
  type ClaimedEntry,
  claimEntries,
  claimStoreRead,
  completeEntries,
  completeRemoval,
  failEntry,
  recordWorker,
} from '@secrets/sync-entries';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { z } from 'zod';
import { createSyncControl } from '../src/app.ts';
import { syncControlEnv } from '../src/config.ts';
import { beforeFirst } from '../src/queries/associations/association-pages.ts';

const destinationType = 'cloudA-sm';

/** sync-control and the secrets service on one database of their own, without a worker. */
export interface SyncControlForTest {
  db: TestDb;
  broker: TestBroker;
  /** Calls sync-control as the gateway does. */
  call(method: string, path: string, body?: unknown, caller?: Caller): Promise<TestResponse>;
  /** Calls the secrets service as the gateway does. */
  secrets: TestService['call'];
  /** Creates a destination and a mount, each with a new name. */
  fixture(fields?: object, caller?: Caller): Promise<Fixture>;
  /** Claims every entry that is due. */
  claim(): Promise<ClaimedEntry[]>;
  /** Does once what a worker does: claims every entry and completes it, or fails it with an error for the operator. */
  work(outcome?: 'complete' | 'fail'): Promise<number>;
  /** Works until the request is answered. */
  workDuring<T>(answer: Promise<T>): Promise<T>;
  /** Deletes every destination, restores the defaults of the sync configuration and, with `hasWorker`, reports a worker. */
  reset(options?: { hasWorker?: boolean }): Promise<void>;
  /** Answers the next read of a store as a worker does. Returns what it was asked. */
  answerRead(answer: StoreAnswer): Promise<StoreQuestion>;
  stop(): Promise<void>;
}

/** A destination and a mount. */
export interface Fixture {
  name: string;
  /** The path of the destination. */
  path: string;
  mount: string;
  accessor: string;
  write(secretName: string, data: object): Promise<void>;
  /** Sets an association, without waiting unless the query says so. */
  set(secretName: string, more?: object, query?: string): Promise<TestResponse>;
  remove(secretName: string, query?: string): Promise<TestResponse>;
  /** Writes and sets secrets, and works until everything in the destination is `SYNCED`. */
  push(...secretNames: string[]): Promise<void>;
  /** The lines of the destination's associations. */
  lines(): Promise<Record<string, Line>>;
}

type Line = Record<string, unknown> & { sync_status: string; external_name: string };

const defaults = readConfig(z.object(syncControlEnv), {});

/** By default, the reconciliation does not run. */
export async function startSyncControlForTest({
  reconcileSeconds = 3_600,
}: {
  reconcileSeconds?: number;
} = {}): Promise<SyncControlForTest> {
  const db = await openTestDb();
  const broker = await openTestBroker();
  const shared = {
    db,
    broker,
    keyRing: parseKeyRing(`k1:${randomBytes(32).toString('base64')} bound`, 'test'),
    keys: testKeys(),
    rowKeys: parseKeyRing(`r1:${randomBytes(32).toString('base64')}`, 'test'),
    log: silentLogger(),
  };
  const metrics = (service: string) => createMetrics(service, { processMetrics: false });
  const secrets = createSecrets({ ...shared, metrics: metrics('secrets') });
  const servedSecrets = await serveForTest(secrets.app, 'secrets', shared.keys);
  const backgroundDb = openPostgres({ url: db.url });
  const syncControl = createSyncControl(
    { ...shared, backgroundDb, metrics: metrics('sync-control') },
    {
      secretsUrl: servedSecrets.url,
      settings: { ...defaults, RECONCILE_SECONDS: reconcileSeconds },
      pollSeconds: 0.2,
    },
  );
  const served = await serveForTest(syncControl.app, 'sync-control', shared.keys);
  await secrets.start();
  await syncControl.start();
  const calls = { call: served.call, secrets: servedSecrets.call };
  return {
    db,
    broker,
    ...calls,
    fixture: async (fields, caller) => withPush(db, await createFixture(calls, fields, caller)),
    claim: () => claimEach(db, async () => {}),
    work: (outcome = 'complete') => work(db, outcome),
    workDuring: (answer) => workDuring(db, answer),
    answerRead: (answer) => answerRead(db, answer),
    reset: (options) => reset(db, options),
    stop: async () => {
      for (const { stop } of [served, syncControl, servedSecrets, secrets]) await stop();
      await broker.close();
      await backgroundDb.close();
      await db.close();
    },
  };
}

/** Starts sync-control and the secrets service for the tests of this file, and stops them after them. */
export function useSyncControl(
  ...options: Parameters<typeof startSyncControlForTest>
): Omit<SyncControlForTest, 'stop'> {
  let started: SyncControlForTest;
  beforeAll(async () => {
    started = await startSyncControlForTest(...options);
  });
  afterAll(() => started?.stop());
  return {
    get db() {
      return started.db;
    },
    get broker() {
      return started.broker;
    },
    call: (...request) => started.call(...request),
    secrets: (...request) => started.secrets(...request),
    fixture: (...fields) => started.fixture(...fields),
    claim: () => started.claim(),
    work: (...outcome) => started.work(...outcome),
    workDuring: (answer) => started.workDuring(answer),
    reset: (...options) => started.reset(...options),
    answerRead: (answer) => started.answerRead(answer),
  };
}

async function createFixture(
  { call, secrets }: Pick<SyncControlForTest, 'call' | 'secrets'>,
  fields: object = {},
  caller: Caller = testCaller(),
): Promise<Omit<Fixture, 'push'>> {
  const name = `d-${randomUUID()}`;
  const mount = `kv-${randomUUID()}`;
  const path = `/sys/sync/destinations/${destinationType}/${name}`;
  expectStatus(await call('POST', path, fields, caller), 200);
  expectStatus(await secrets('POST', `/sys/mounts/${mount}`, { type: 'kv' }, caller), 204);
  const { body } = await secrets('GET', `/sys/mounts/${mount}`, undefined, caller);
  const ofSecret = (secretName: string) => ({ mount, secret_name: secretName });
  return {
    name,
    path,
    mount,
    accessor: body.data.accessor,
    write: async (secretName, data) => {
      expectStatus(await secrets('POST', `/${mount}/data/${secretName}`, { data }, caller), 200);
    },
    set: (secretName, more = {}, query = '?wait=0') =>
      call('POST', `${path}/associations/set${query}`, { ...ofSecret(secretName), ...more }, caller),
    remove: (secretName, query = '?wait=0') =>
      call('POST', `${path}/associations/remove${query}`, ofSecret(secretName), caller),
    lines: async () =>
      (await call('GET', `${path}/associations`, undefined, caller)).body.data.associated_secrets,
  };
}

const withPush = (db: Db, fixture: Omit<Fixture, 'push'>): Fixture => ({
  ...fixture,
  push: async (...secretNames) => {
    for (const name of secretNames) {
      await fixture.write(name, { v: 1 });
      await fixture.set(name);
    }
    await eventually(async () => {
      await work(db, 'complete');
      return Object.values(await fixture.lines()).every((line) => line.sync_status === 'SYNCED');
    });
  },
});

function expectStatus({ status, body }: TestResponse, wanted: number): void {
  if (status !== wanted) throw new Error(`expected ${wanted}, got ${status}: ${JSON.stringify(body)}`);
}

const work = async (db: Db, outcome: 'complete' | 'fail'): Promise<number> =>
  (await claimEach(db, (held) => end(db, held, outcome))).length;

async function reset(db: Db, { hasWorker = false }: { hasWorker?: boolean } = {}): Promise<void> {
  // A transaction is repeated after a deadlock, such as with a round of the reconciliation.
  await db.transaction((tx) => tx.query('delete from sync.destinations'));
  await db.query(`update sync.reconciliation set started_at = now(), position = $1`, [beforeFirst]);
  await db.query('update sync.config set disabled = default, queue_capacity = default');
  if (hasWorker) await recordWorker(db, { id: 'w', destinationType, slots: 4 });
}

async function answerRead(db: Db, answer: StoreAnswer): Promise<StoreQuestion> {
  const requested = () => db.query<{ id: string }>('select id from sync.store_reads where answer is null');
  await eventually(async () => (await requested()).length > 0);
  const [{ id } = { id: '' }] = await requested();
  const read = await claimStoreRead(db, id);
  if (read === undefined) throw new Error('another worker has claimed the read of the store');
  await answerStoreRead(db, id, answer);
  return read.question;
}

/** Claims every entry that is due, one after the other, and works on each before the next claim. */
async function claimEach(db: Db, workOn: (held: ClaimedEntry) => Promise<unknown>): Promise<ClaimedEntry[]> {
  const entries = await db.query<{ id: string }>('select id from sync.entries');
  const claimed: ClaimedEntry[] = [];
  for (const { id } of entries) {
    const held = await claimOnceUnlocked(db, id);
    if (held === undefined) continue;
    claimed.push(held);
    await workOn(held);
  }
  return claimed;
}

/** A claim leaves out what the scheduler has locked, so it is tried again after the lock was released. */
async function claimOnceUnlocked(db: Db, id: string): Promise<ClaimedEntry | undefined> {
  const claim = { entryIds: [id], destinationType, owner: 'test', leaseSeconds: 60 };
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const [held] = await claimEntries(db, claim);
    if (held !== undefined) return held;
    await db.query('select from sync.entries where id = $1 for update', [id]);
  }
  return undefined;
}

async function workDuring<T>(db: Db, answer: Promise<T>): Promise<T> {
  let isAnswered = false;
  const answered = answer.finally(() => {
    isAnswered = true;
  });
  await eventually(async () => {
    await work(db, 'complete');
    return isAnswered;
  });
  return answered;
}

async function end(db: Db, held: ClaimedEntry, outcome: 'complete' | 'fail'): Promise<void> {
  if (outcome === 'fail') {
    const failed = { status: 'CLIENT_SIDE_ERROR', fault: 'forbidden', error: 'no permission' } as const;
    await failEntry(db, held, { ...failed, retryInSeconds: null });
  } else if (held.desired === 'absent') {
    await completeRemoval(db, held);
  } else {
    const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const;
    await completeEntries(db, [{ held, achieved }]);
  }
}

/** Repeats `check` until it returns true. Throws after `seconds`. */
export async function eventually(check: () => Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`the condition was not met within ${seconds} s`);
    await sleep(10);
  }
}
