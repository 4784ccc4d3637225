import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Fault, type StoreAnswer, syncQueue } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import type { ListPage } from '../src/driver/look.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { useServers } from './use-servers.ts';

const destinationType = 'cloudA-sm';
const { db, broker, depsOfWorker } = useServers();

const secret = { belongs: 'none', isReadable: true, createdAt: new Date(0), changedAt: null } as const;
const page: ListPage = {
  secrets: [
    { name: 'b', ...secret },
    { name: 'a', ...secret },
  ],
  next: '2',
};

/** Starts a worker of a store with this list, and has it read what is there. */
async function answerOf(list: ConnectedDestination['list'], seconds = 60): Promise<StoreAnswer | null> {
  const store: ConnectedDestination = {
    put: async () => ({ remote: {} }),
    remove: async () => {},
    inspect: async () => ({ exists: false }),
    list,
    close: async () => {},
  };
  const worker = createSyncWorker({ type: destinationType, connect: async () => store }, depsOfWorker(), {
    concurrency: 4,
    leaseSeconds: 60,
    prefix: 'secrets',
  });
  await worker.start();
  try {
    return await request(seconds);
  } finally {
    await worker.stop();
  }
}

const readRow = async (id: string) => {
  const [row] = await db.query<{ answer: StoreAnswer | null; isStarted: boolean }>(
    'select answer, started_at is not null as "isStarted" from sync.store_reads where id = $1',
    [id],
  );
  return row!;
};

async function request(seconds: number): Promise<StoreAnswer | null> {
  const destinationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
    [destinationId, destinationType],
  );
  const question = { after: { page: '1', name: 'a' }, limit: 5 };
  const [row] = await db.query<{ id: string }>(
    `insert into sync.store_reads (destination_id, destination_type, question, ends_at)
     values ($1, $2, $3::jsonb, now() + $4 * interval '1 second') returning id`,
    [destinationId, destinationType, JSON.stringify(question), seconds],
  );
  const message = { check_id: row!.id, destination_id: destinationId, store_read: true };
  // The second message is received after the first: then, the first has been handled, or is.
  await broker.publish(syncQueue(destinationType), [message, message]);
  if (seconds > 0) await eventually(async () => (await readRow(row!.id)).answer !== null);
  return (await readRow(row!.id)).answer;
}

test('a read lists the page that was asked for once, and answers with what follows the name', async () => {
  const pages: (string | null)[] = [];
  const answer = await answerOf(async (after) => {
    pages.push(after);
    return page;
  });
  expect(answer).toEqual({
    secrets: [{ name: 'b', ...secret, createdAt: '1970-01-01T00:00:00.000Z' }],
    next: { page: '2', name: '' },
  });
  expect(pages).toEqual(['1']);
});

test.each([
  ['a refusal', new Fault('forbidden', 'not permitted'), { fault: 'forbidden', message: 'not permitted' }],
  [
    'an unexpected error, without its details',
    new Error('canary-7f3a'),
    { fault: null, message: 'an internal error; see the log of the sync worker' },
  ],
])('a read answers with the reason of its failure: %s', async (_, error, failure) => {
  const answer = await answerOf(async () => {
    throw error;
  });
  expect(answer).toEqual({ failure });
});

test('a read of a throttled account answers when to ask again', async () => {
  const answer = await answerOf(async () => {
    throw new Fault('throttled', 'slow down', { retryAfterSeconds: 9 });
  });
  expect(answer).toEqual({ failure: { fault: 'throttled', message: 'slow down', retryAfterSeconds: 9 } });
});

test('a list that does not end is given up before the request is', async () => {
  const answer = await answerOf(() => new Promise(() => {}), 1);
  expect(answer).toEqual({
    failure: { fault: 'unavailable', message: 'the destination did not respond in time' },
  });
});

test('a read that has ended is not begun', async () => {
  let calls = 0;
  const answer = await answerOf(async () => {
    calls += 1;
    return page;
  }, 0);
  expect([answer, calls]).toEqual([null, 0]);
});
