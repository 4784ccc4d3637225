import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { syncQueue } from '@secrets/domain';
import { openTestDb } from '@secrets/schemas/testing';
import { silentLogger } from '@secrets/telemetry';
import { useStarted } from '../../../../libs/testing/src/use-started.ts';
import { LostEntries } from '../../src/queue/lost-entries.ts';
import { insertMany } from '../insert-many.ts';

const [type, otherType] = ['cloudA-sm', 'cloudX'];
const afterSeconds = 5;

const db = useStarted(openTestDb, ({ close }) => close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
});

/** Inserts announced entries of a type, the first one announced the longest ago, and returns the names of those that are due. */
async function announced(count: number, destinationType = type): Promise<() => Promise<string[]>> {
  const name = randomUUID();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings) values ('root', '', $1, $2, '{}')`,
    [destinationType, name],
  );
  const id = await insertMany(db, { destination: name, count, status: 'PENDING' });
  await db.query(
    `update sync.entries set applied_generation = 0, due_at = null,
            announced_at = now() - interval '1 minute' + substr(external_name, 5)::int * interval '1 second'
      where destination_id = $1`,
    [id],
  );
  return async () => {
    const rows = await db.query<{ name: string }>(
      'select external_name as name from sync.entries where destination_id = $1 and due_at <= now() order by 1',
      [id],
    );
    return rows.map(({ name: due }) => due);
  };
}

/** A search whose clock and queues the test sets. */
function search(depths: Record<string, number | Error> = {}) {
  let now = 0;
  const depth = async (queue: string) => {
    const ready = depths[queue] ?? 0;
    if (ready instanceof Error) throw ready;
    return { ready, consumers: 1 };
  };
  const lost = new LostEntries({
    db,
    broker: { depth },
    log: silentLogger(),
    destinationTypes: [type, otherType],
    afterSeconds,
    now: () => now,
  });
  return {
    depths,
    after: async (seconds: number) => {
      now += seconds * 1_000;
      await lost.revive();
    },
  };
}

test('an announcement without a message is revived within seconds, not before a worker could have claimed it', async () => {
  const due = await announced(2);
  const { after } = search();
  await after(0);
  await after(4);
  expect(await due()).toEqual([]);
  await after(1);
  expect(await due()).toEqual(['many1', 'many2']);
});

test('announcements whose messages wait in a long queue are not lost, however old they are', async () => {
  const due = await announced(3);
  const { after } = search({ [syncQueue(type)]: 3 });
  for (let hour = 0; hour < 24; hour += 1) await after(3_600);
  expect(await due()).toEqual([]);
});

test('in a queue that is never empty, the oldest announcements are lost for which it has no message', async () => {
  const due = await announced(3);
  const { after } = search({ [syncQueue(type)]: 1 });
  await after(0);
  await after(5);
  expect(await due()).toEqual(['many1', 'many2']);
});

test('an announcement whose message has just left the queue is not lost if it is claimed in time, or announced again', async () => {
  const due = await announced(2);
  const { after } = search();
  await after(0);
  await db.query(`update sync.entries set announced_at = null, due_at = now() + interval '1 minute', lease_until = now() + interval '1 minute'
                   where external_name = 'many1'`);
  await db.query(`update sync.entries set announced_at = now() where external_name = 'many2'`);
  await after(5);
  expect(await due()).toEqual([]);
});

test('an announcement that is not confirmed by the broker is not lost: its scheduler may still wait', async () => {
  const due = await announced(1);
  await db.query(`update sync.entries set due_at = now() + interval '20 seconds'`);
  const { after } = search();
  await after(0);
  await after(5);
  expect(await due()).toEqual([]);
});

test('many lost messages are all sent again at once, not a thousand at a time', async () => {
  const due = await announced(3_000);
  const { after } = search();
  await after(0);
  await after(5);
  expect(await due()).toHaveLength(3_000);
});

test('a type whose queue is missing does not keep the messages of another type lost', async () => {
  const [missing, due] = [await announced(1, type), await announced(1, otherType)];
  const { after } = search({ [syncQueue(type)]: new Error('no such queue') });
  await after(0);
  await after(5);
  expect([await missing(), await due()]).toEqual([[], ['many1']]);
});
