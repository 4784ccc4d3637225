import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '@secrets/db';
import { eventually, type SyncControlForTest, startSyncControlForTest } from '../sync-control-for-test.ts';

let sync: SyncControlForTest;
/** Connections that the service does not use. */
let outside: Db;

beforeAll(async () => {
  sync = await startSyncControlForTest();
  outside = openPostgres({ url: sync.db.url });
});
afterAll(async () => {
  await outside?.close();
  await sync?.stop();
});

const waitingForLocks = async (): Promise<number> => {
  const [row] = await outside.query<{ count: number }>(
    `select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row!.count;
};

test('publishes entries while requests wait for a locked destination, which end with 503 and Retry-After', async () => {
  const [locked, other] = [await sync.fixture(), await sync.fixture()];
  await locked.write('a', { x: '1' });
  await other.write('b', { x: '1' });
  await other.set('b');
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
  const { promise: isLocked, resolve: onLocked } = Promise.withResolvers<void>();
  const holding = outside.transaction(async (tx) => {
    await tx.query('select from sync.destinations where name = $1 for update', [locked.name]);
    onLocked();
    await isDone;
  });
  await isLocked;
  const sets = Array.from({ length: 12 }, () => locked.set('a'));
  await eventually(async () => (await waitingForLocks()) >= 8);
  await outside.query('update sync.entries set due_at = now(), announced_at = null');
  await eventually(async () => {
    const announced = await outside.query('select from sync.entries where announced_at is not null');
    return announced.length === 1;
  });
  const stillWaiting = await waitingForLocks();
  const first = await Promise.race(sets);
  done();
  await holding;
  expect(stillWaiting).toBeGreaterThanOrEqual(8);
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
  const statuses = (await Promise.all(sets)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([]);
});
