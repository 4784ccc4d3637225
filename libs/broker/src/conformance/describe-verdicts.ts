import { describe, expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import { type DeliveryContext, deliveryLimit } from '../broker.ts';
import { type BrokerUnderTest, collect, numbers } from './broker-under-test.ts';

export function describeVerdicts(underTest: BrokerUnderTest): void {
  describe('verdicts', () => {
    test('requeue delivers the message again and counts its deliveries; ack removes it', async () => {
      const { broker, queue } = underTest;
      const deliveries: number[] = [];
      const consumer = await broker.consume(queue, { concurrency: 1 }, async (_, context) => {
        deliveries.push(context.deliveries);
        return deliveries.length < 4 ? 'requeue' : 'ack';
      });
      await broker.publish(queue, ['stubborn']);
      await eventually(() => expect(deliveries).toEqual([1, 2, 3, 4]));
      await consumer.stop();
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 0, consumers: 0 }));
      expect(deliveries).toHaveLength(4);
    });

    test('a message keeps its id across deliveries', async () => {
      const { broker, queue } = underTest;
      const ids: string[] = [];
      await broker.consume(queue, { concurrency: 1 }, async (_, { messageId }) => {
        ids.push(messageId);
        return ids.length < 2 ? 'requeue' : 'ack';
      });
      await broker.publish(queue, ['x']);
      await eventually(() => expect(ids).toHaveLength(2));
      expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
      expect(ids[1]).toBe(ids[0]);
    });

    test('requeue dead-letters a message at the delivery limit, and other messages pass', async () => {
      const { broker, queue } = underTest;
      const contexts: DeliveryContext[] = [];
      const passed: unknown[] = [];
      await broker.consume(queue, { concurrency: 1 }, async (message, context) => {
        if (message === 'poison') contexts.push(context);
        else passed.push(message);
        return message === 'poison' ? 'requeue' : 'ack';
      });
      await broker.publish(queue, ['poison', 'fine']);
      await eventually(async () => expect(await broker.deadLetterDepth(queue)).toBe(1));
      await eventually(() => expect(passed).toEqual(['fine']));
      expect(contexts.map(({ deliveries }) => deliveries)).toEqual(numbers(deliveryLimit).map((n) => n + 1));
      await eventually(async () => expect(await broker.depth(queue)).toMatchObject({ ready: 0 }));
    });

    test('dead-letter sets a message aside immediately, and inspecting does not remove it', async () => {
      const { broker, queue } = underTest;
      await broker.consume(queue, { concurrency: 2 }, async () => 'dead-letter');
      await broker.publish(queue, [{ entryId: 'e1' }, { entryId: 'e2' }]);
      await eventually(async () => expect(await broker.deadLetterDepth(queue)).toBe(2));
      await eventually(async () => expect(await broker.deadLetters(queue, 1)).toHaveLength(1));
      await eventually(async () => {
        const texts = (await broker.deadLetters(queue, 10)).map(({ text }) => text);
        expect(new Set(texts)).toEqual(new Set(['{"entryId":"e1"}', '{"entryId":"e2"}']));
      });
      await eventually(async () => expect(await broker.deadLetterDepth(queue)).toBe(2));
    });

    test('dead-letters a body that is not JSON, without calling the handler', async () => {
      const { broker, queue } = underTest;
      const { seen } = await collect(broker, queue);
      await broker.sendText(queue, '{"cut off');
      await broker.publish(queue, ['fine']);
      await eventually(async () => expect(await broker.deadLetterDepth(queue)).toBe(1));
      await eventually(() => expect(seen).toEqual(['fine']));
      await eventually(async () => expect((await broker.deadLetters(queue, 5))[0]?.text).toBe('{"cut off'));
    });

    test('a dependency that is away delays a message, however often, and counts no delivery', async () => {
      const { broker, queue } = underTest;
      const deliveries: number[] = [];
      const consumer = await broker.consume(queue, { concurrency: 1 }, async (_, context) => {
        deliveries.push(context.deliveries);
        if (deliveries.length <= deliveryLimit + 1) throw new Problem('unavailable', 'expected in this test');
        return 'ack';
      });
      await broker.publish(queue, ['x']);
      await eventually(() => expect(deliveries).toEqual(Array(deliveryLimit + 2).fill(1)));
      await consumer.stop();
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 0, consumers: 0 }));
      expect(await broker.deadLetterDepth(queue)).toBe(0);
    });

    test('requeues when the handler throws or rejects', async () => {
      const { broker, queue } = underTest;
      let calls = 0;
      const consumer = await broker.consume(queue, { concurrency: 1 }, (_, { deliveries }) => {
        calls += 1;
        if (deliveries === 1) throw new Error('thrown');
        return deliveries === 2 ? Promise.reject(new Error('rejected')) : Promise.resolve('ack');
      });
      await broker.publish(queue, ['x']);
      await eventually(() => expect(calls).toBe(3));
      await consumer.stop();
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 0, consumers: 0 }));
      expect(calls).toBe(3);
      expect(await broker.deadLetterDepth(queue)).toBe(0);
    });
  });
}
