import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { createTestDb } from '@secrets/db/testing';
import { type Json, Problem } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import { shiftClock } from '@secrets/testing/shift-clock';
import type { BrokerLog } from '../broker.ts';
import type { OutboxMessage } from './publish-batch.ts';
import { type Relay, startRelay } from './relay.ts';

/** Longer than any test, so that a slow machine does not end a lease. */
const leaseMs = 3_600_000;

/** A broker that can be switched off, and records what is published. */
function switchableBroker() {
  const state = { isDown: false, published: [] as [string, Json][], calls: 0 };
  const publish = async (queue: string, messages: readonly Json[]) => {
    state.calls += 1;
    if (state.isDown) throw new Problem('unavailable', 'the broker is down');
    state.published.push(...messages.map((message): [string, Json] => [queue, message]));
  };
  return { state, publish };
}

describe('relay', () => {
  let db: Db;
  let relays: Relay[];
  let logged: string[];
  let takes: number;
  const note = (_: object, message: string) => {
    logged.push(message);
  };
  const log: BrokerLog = { info: note, warn: note, error: note };

  beforeEach(async () => {
    db = await createTestDb();
    await db.query(
      `create table outbox (id int generated always as identity primary key, queue text, message jsonb, due_at timestamptz default now())`,
    );
    relays = [];
    logged = [];
    takes = 0;
  });
  afterEach(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
    await db.close();
  });

  const put = (queue: string, count: number) =>
    db.query(
      `insert into outbox (queue, message) select $1, to_jsonb(n) from generate_series(1, $2::int) as n`,
      [queue, count],
    );
  const left = async () => (await db.query<{ n: number }>('select count(*)::int as n from outbox'))[0]!.n;

  function start(
    broker: Pick<ReturnType<typeof switchableBroker>, 'publish'>,
    { leaseMs: ms = leaseMs, ...more }: { batchSize?: number; idleMs?: number; leaseMs?: number } = {},
  ) {
    const relay = startRelay<number>({
      name: 'test',
      broker,
      log,
      idleMs: 20,
      take: (limit) => {
        takes += 1;
        return db.query<OutboxMessage<number>>(
          `with taken as (
             update outbox set due_at = now() + $2 * interval '1 ms' where id in
               (select id from outbox where due_at <= now() order by id limit $1 for update skip locked)
             returning id, queue, message)
           select * from taken order by id`,
          [limit, ms],
        );
      },
      done: async (ids) => {
        await db.query('delete from outbox where id = any($1::int[])', [ids]);
      },
      ...more,
    });
    relays.push(relay);
    return relay;
  }

  test('publishes every message once, in order within a queue, and empties the outbox', async () => {
    const broker = switchableBroker();
    await put('a', 30);
    await put('b', 30);
    start(broker, { batchSize: 25 });
    await eventually(async () => expect(await left()).toBe(0));
    expect(broker.state.published).toHaveLength(60);
    expect(broker.state.published.filter(([queue]) => queue === 'a').map(([, n]) => n)).toEqual(
      Array.from({ length: 30 }, (_, n) => n + 1),
    );
  });

  test('a notification wakes an idle relay', async () => {
    const broker = switchableBroker();
    const relay = start(broker, { idleMs: 3_600_000 });
    await eventually(() => expect(takes).toBe(1));
    await put('a', 1);
    relay.notify();
    await eventually(() => expect(broker.state.published).toHaveLength(1));
  });

  test('logs an outage once, and publishes everything afterwards', async () => {
    const broker = switchableBroker();
    broker.state.isDown = true;
    await put('a', 3);
    start(broker, { leaseMs: 200 });
    await eventually(() => expect(broker.state.calls).toBeGreaterThan(2));
    broker.state.isDown = false;
    await eventually(async () => expect(await left()).toBe(0));
    expect(new Set(broker.state.published.map(([, n]) => n))).toEqual(new Set([1, 2, 3]));
    expect(logged).toEqual(['relay cannot publish; retrying', 'relay publishes again']);
  });

  test('a queue that cannot be published to does not hold up the others', async () => {
    const broker = switchableBroker();
    const publish = async (queue: string, messages: readonly Json[]) => {
      if (queue === 'bad') throw new Problem('unavailable', 'the queue is full');
      await broker.publish(queue, messages);
    };
    await put('bad', 2);
    await put('good', 2);
    start({ publish });
    await eventually(async () => expect(await left()).toBe(2));
    expect(broker.state.published).toHaveLength(2);
  });

  test('several relays share an outbox without publishing twice', async () => {
    const broker = switchableBroker();
    await put('a', 200);
    start(broker, { batchSize: 10 });
    start(broker, { batchSize: 10 });
    await eventually(async () => expect(await left()).toBe(0));
    expect(new Set(broker.state.published.map(([, n]) => n)).size).toBe(200);
    expect(broker.state.published).toHaveLength(200);
  });
});

describe('the pause of an outage', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** A relay whose broker has been down for some seconds. */
  async function pausingRelay() {
    const broker = switchableBroker();
    broker.state.isDown = true;
    const relay = startRelay<number>({
      name: 'test',
      broker,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      take: async () => [{ id: 1, queue: 'a', message: 1 }],
      done: async () => undefined,
    });
    await jest.advanceTimersByTimeAsync(3_000);
    return { broker, relay };
  }

  test('ends when the relay is stopped', async () => {
    const { broker, relay } = await pausingRelay();
    expect(broker.state.calls).toBeGreaterThan(1);
    await relay.stop(); // fake time does not advance: waiting for the end of the pause would never end
  });

  test('is no longer if the clock of the process is set back meanwhile', async () => {
    const { broker, relay } = await pausingRelay();
    const { calls } = broker.state;
    const restore = shiftClock(() => -3_600_000);
    await jest.advanceTimersByTimeAsync(10_000).finally(restore);
    expect(broker.state.calls).toBeGreaterThan(calls);
    await relay.stop();
  });
});
