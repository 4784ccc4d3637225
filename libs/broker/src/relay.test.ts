import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { createTestDb } from '@secrets/db/testing';
import { type Json, Problem } from '@secrets/domain';
import type { BrokerLog } from './broker.ts';
import { eventually } from './eventually.ts';
import { type OutboxMessage, type Relay, startRelay } from './relay.ts';

/** Longer than any test: what was taken is not taken again because a machine is slow. */
const leaseMs = 3_600_000;

/** A broker that can be away, and remembers. */
function fickleBroker() {
  const state = { isAway: false, published: [] as [string, Json][], calls: 0 };
  const publish = async (queue: string, messages: readonly Json[]) => {
    state.calls += 1;
    if (state.isAway) throw new Problem('unavailable', 'the broker is away');
    state.published.push(...messages.map((message): [string, Json] => [queue, message]));
  };
  return { state, publish };
}

describe('relay', () => {
  let db: Db;
  let relays: Relay[];
  let logged: string[];
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
    broker: Pick<ReturnType<typeof fickleBroker>, 'publish'>,
    { leaseMs: ms = leaseMs, ...more }: { batchSize?: number; idleMs?: number; leaseMs?: number } = {},
  ) {
    const relay = startRelay<number>({
      name: 'test',
      broker,
      log,
      idleMs: 20,
      take: (limit) =>
        db.query<OutboxMessage<number>>(
          `update outbox set due_at = now() + $2 * interval '1 ms' where id in
             (select id from outbox where due_at <= now() order by id limit $1 for update skip locked)
           returning id, queue, message`,
          [limit, ms],
        ),
      done: async (ids) => {
        await db.query('delete from outbox where id = any($1::int[])', [ids]);
      },
      ...more,
    });
    relays.push(relay);
    return relay;
  }

  test('publishes all, queue by queue, and leaves nothing', async () => {
    const broker = fickleBroker();
    await put('a', 30);
    await put('b', 30);
    start(broker, { batchSize: 25 });
    await eventually(async () => expect(await left()).toBe(0));
    expect(broker.state.published).toHaveLength(60);
    expect(broker.state.published.filter(([queue]) => queue === 'a').map(([, n]) => n)).toEqual(
      Array.from({ length: 30 }, (_, n) => n + 1),
    );
  });

  test('sleeps while there is nothing, and wakes when notified', async () => {
    const broker = fickleBroker();
    const relay = start(broker, { idleMs: 3_600_000 });
    await eventually(() => expect(relay).toBeDefined());
    await put('a', 1);
    relay.notify();
    await eventually(() => expect(broker.state.published).toHaveLength(1));
  });

  test('an outage is logged once, and afterwards everything arrives', async () => {
    const broker = fickleBroker();
    broker.state.isAway = true;
    await put('a', 3);
    start(broker, { leaseMs: 200 });
    await eventually(() => expect(broker.state.calls).toBeGreaterThan(2));
    broker.state.isAway = false;
    await eventually(async () => expect(await left()).toBe(0));
    expect(new Set(broker.state.published.map(([, n]) => n))).toEqual(new Set([1, 2, 3]));
    expect(logged).toEqual(['relay cannot publish; trying again', 'relay publishes again']);
  });

  test('one queue that cannot be published does not keep the others', async () => {
    const broker = fickleBroker();
    const publish = async (queue: string, messages: readonly Json[]) => {
      if (queue === 'bad') throw new Problem('unavailable', 'no such luck');
      await broker.publish(queue, messages);
    };
    await put('bad', 2);
    await put('good', 2);
    start({ publish });
    await eventually(async () => expect(await left()).toBe(2));
    expect(broker.state.published).toHaveLength(2);
  });

  test('several at once share the outbox without publishing twice', async () => {
    const broker = fickleBroker();
    await put('a', 200);
    start(broker, { batchSize: 10 });
    start(broker, { batchSize: 10 });
    await eventually(async () => expect(await left()).toBe(0));
    expect(new Set(broker.state.published.map(([, n]) => n)).size).toBe(200);
    expect(broker.state.published).toHaveLength(200);
  });
});

test('stop ends the pause of an outage', async () => {
  jest.useFakeTimers();
  try {
    const broker = fickleBroker();
    broker.state.isAway = true;
    const relay = startRelay<number>({
      name: 'test',
      broker,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      take: async () => [{ id: 1, queue: 'a', message: 1 }],
      done: async () => undefined,
    });
    await jest.advanceTimersByTimeAsync(3_000);
    expect(broker.state.calls).toBeGreaterThan(1);
    await relay.stop(); // time stands still: who waits for the end of the pause waits for ever
  } finally {
    jest.useRealTimers();
  }
});
