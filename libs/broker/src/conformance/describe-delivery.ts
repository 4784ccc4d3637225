import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import { type BrokerUnderTest, blockingHandler, collect, numbers } from './broker-under-test.ts';

export function describeDelivery(underTest: BrokerUnderTest): void {
  describe('delivery', () => {
    test('a message is delivered with the trace that it was published with, if it has one', async () => {
      const { broker, queue } = underTest;
      const seen = new Map<unknown, unknown>();
      await broker.consume(queue, { concurrency: 1 }, async (message, { traceparent }) => {
        seen.set(message, traceparent ?? null);
        return 'ack';
      });
      await broker.publish(queue, numbers(3), { traceparents: [null, '00-trace-1'] });
      await broker.publish(queue, [3]);
      await eventually(() => expect(seen.size).toBe(4));
      expect([...seen].sort()).toEqual([
        [0, null],
        [1, '00-trace-1'],
        [2, null],
        [3, null],
      ]);
    });

    test('delivers every JSON value unchanged, roughly in order', async () => {
      const { broker, queue } = underTest;
      const messages: Json[] = [
        { entryId: 'e1', at: 9007199254740991, nested: { z: [1, null, true], a: 'ö\u2028"' } },
        'text',
        ['list'],
        0,
        false,
        null,
      ];
      await broker.publish(queue, messages);
      const { seen } = await collect(broker, queue);
      await eventually(() => expect(seen).toEqual(messages));
    });

    test('accepts a consumer before the first message, and a publication without messages', async () => {
      const { broker, queue } = underTest;
      const { seen } = await collect(broker, queue);
      await broker.publish(queue, []);
      await broker.publish(queue, ['first']);
      await eventually(() => expect(seen).toEqual(['first']));
    });

    test('new queues can be consumed, inspected and filled at the same time', async () => {
      const { broker, queue } = underTest;
      const queues = numbers(10).map((number) => `${queue}-${number}`);
      const received = await Promise.all(
        queues.map(async (name) => {
          const { seen } = await collect(broker, name);
          await Promise.all([broker.depth(name), broker.depth(name), broker.publish(name, ['x'])]);
          return seen;
        }),
      );
      await eventually(() => expect(received).toEqual(queues.map(() => ['x'])));
    });

    test('keeps queues apart', async () => {
      const { broker, queue } = underTest;
      await broker.publish(`${queue}-a`, ['a']);
      await broker.publish(`${queue}-b`, ['b1']);
      const { seen } = await collect(broker, `${queue}-b`);
      await eventually(() => expect(seen).toContain('b1'));
      await broker.publish(`${queue}-b`, ['b2']);
      await eventually(() => expect(seen).toContain('b2'));
      expect(seen).toEqual(['b1', 'b2']);
    });

    test('confirms a large batch and delivers each message once', async () => {
      const { broker, queue } = underTest;
      const messages = numbers(2_000);
      await broker.publish(queue, messages);
      const { seen } = await collect(broker, queue, 20);
      await eventually(() => expect(seen).toHaveLength(messages.length));
      expect(new Set(seen)).toEqual(new Set(messages));
    });

    test('confirms concurrent publications', async () => {
      const { broker, queue } = underTest;
      await Promise.all(numbers(50).map((number) => broker.publish(queue, [number, number + 100])));
      const { seen } = await collect(broker, queue, 5);
      await eventually(() => expect(new Set(seen).size).toBe(100));
    });

    test('runs as many handlers as `concurrency` allows, and never more', async () => {
      const { broker, queue } = underTest;
      const work = blockingHandler();
      await broker.publish(queue, numbers(12));
      const consumer = await broker.consume(queue, { concurrency: 4 }, work.handler);
      for (const started of [4, 8, 12]) {
        await eventually(() => expect([work.seen.length, work.running()]).toEqual([started, 4]));
        work.release();
      }
      await consumer.stop();
      expect(work.maxRunning()).toBe(4);
    });

    test('shares messages among competing consumers', async () => {
      const { broker, queue } = underTest;
      const [one, two] = [blockingHandler(), blockingHandler()];
      await broker.consume(queue, { concurrency: 2 }, one.handler);
      await broker.consume(queue, { concurrency: 2 }, two.handler);
      await broker.publish(queue, numbers(4));
      await eventually(() => expect([one.running(), two.running()]).toEqual([2, 2]));
      one.release();
      two.release();
      expect(new Set([...one.seen, ...two.seen])).toEqual(new Set(numbers(4)));
    });

    test('reports waiting messages and consumers as depth', async () => {
      const { broker, queue } = underTest;
      expect(await broker.depth(queue)).toEqual({ ready: 0, consumers: 0 });
      await broker.publish(queue, numbers(7));
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 7, consumers: 0 }));
      const work = blockingHandler();
      await broker.consume(queue, { concurrency: 2 }, work.handler);
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 5, consumers: 1 }));
      for (const started of [4, 6, 7]) {
        work.release();
        await eventually(() => expect(work.seen).toHaveLength(started));
      }
      work.release();
    });
  });
}
