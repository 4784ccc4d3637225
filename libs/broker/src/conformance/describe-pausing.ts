import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { type BrokerUnderTest, blockingHandler, collect, numbers } from './broker-under-test.ts';

export function describePausing(underTest: BrokerUnderTest): void {
  describe('pausing and stopping', () => {
    test('pause stops deliveries and loses none; resume continues', async () => {
      const { broker, queue } = underTest;
      const seen: unknown[] = [];
      let pausing: Promise<void> | undefined;
      const consumer = await broker.consume(queue, { concurrency: 3 }, async (message) => {
        seen.push(message);
        if (seen.length === 6) pausing = consumer.pause();
        await sleep(2);
        return 'ack';
      });
      const messages = numbers(300);
      await broker.publish(queue, messages);
      await eventually(() => expect(pausing).toBeDefined());
      await pausing;
      const before = seen.length;
      const paused = { ready: messages.length - before, consumers: 0 };
      await eventually(async () => expect(await broker.depth(queue)).toEqual(paused));
      expect(seen).toHaveLength(before);
      expect(before).toBeLessThan(messages.length);
      await consumer.resume();
      await eventually(() => expect(new Set(seen)).toEqual(new Set(messages)));
    });

    test('a paused consumer finishes its running handlers and starts no other', async () => {
      const { broker, queue } = underTest;
      const work = blockingHandler();
      const consumer = await broker.consume(queue, { concurrency: 1 }, work.handler);
      await broker.publish(queue, ['one', 'two']);
      await eventually(() => expect(work.running()).toBe(1));
      await consumer.pause();
      work.release();
      await eventually(() => expect(work.running()).toBe(0));
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 1, consumers: 0 }));
      expect(work.seen).toEqual(['one']);
      await consumer.resume();
      await eventually(() => expect(work.seen).toEqual(['one', 'two']));
      work.release();
    });

    test('the last of concurrent calls of pause and resume wins', async () => {
      const { broker, queue } = underTest;
      const { seen, consumer } = await collect(broker, queue);
      await Promise.all([consumer.pause(), consumer.resume(), consumer.pause(), consumer.resume()]);
      await broker.publish(queue, ['x']);
      await eventually(() => expect(seen).toEqual(['x']));
      await Promise.all([consumer.resume(), consumer.pause()]);
      await broker.publish(queue, ['y']);
      await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 1, consumers: 0 }));
      expect(seen).toEqual(['x']);
    });

    test('stop waits for running handlers and leaves the other messages to other consumers', async () => {
      const { broker, queue } = underTest;
      const work = blockingHandler();
      const consumer = await broker.consume(queue, { concurrency: 2 }, work.handler);
      await broker.publish(queue, numbers(5));
      await eventually(() => expect(work.running()).toBe(2));
      let isStopped = false;
      const stopping = consumer.stop().then(() => {
        isStopped = true;
      });
      await sleep(50); // time in which a stop that does not wait would end
      expect(isStopped).toBe(false);
      work.release();
      await stopping;
      expect(work.running()).toBe(0);
      const rest = await collect(broker, queue);
      await eventually(() => expect(new Set(rest.seen)).toEqual(new Set([2, 3, 4])));
      await consumer.stop(); // harmless, as is resuming
      await consumer.resume();
    });

    test('close waits for running handlers, and publishing afterwards is refused', async () => {
      const broker = await underTest.open();
      const work = blockingHandler();
      await broker.publish('work', numbers(3));
      await broker.consume('work', { concurrency: 2 }, work.handler);
      await eventually(() => expect(work.running()).toBe(2));
      let isClosed = false;
      const closing = broker.close().then(() => {
        isClosed = true;
      });
      await sleep(50); // time in which a close that does not wait would end
      expect(isClosed).toBe(false);
      work.release();
      await closing;
      expect(work.running()).toBe(0);
      expect(work.seen).toHaveLength(2);
      await expect(broker.publish('work', ['late'])).rejects.toMatchObject({ kind: 'unavailable' });
    });
  });
}
