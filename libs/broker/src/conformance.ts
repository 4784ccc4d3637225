import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { type Broker, type DeliveryContext, deliveryLimit } from './broker.ts';
import { eventually } from './eventually.ts';
import type { TestBroker } from './testing.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A handler that stays at work until it is let go, and counts how many are. */
function slowHandler() {
  const seen: unknown[] = [];
  let atWork = 0;
  let maxAtWork = 0;
  const leaving = new Set<() => void>();
  const handler = async (message: unknown) => {
    seen.push(message);
    atWork += 1;
    maxAtWork = Math.max(maxAtWork, atWork);
    await new Promise<void>((resolve) => leaving.add(resolve));
    atWork -= 1;
    return 'ack' as const;
  };
  const letGo = () => {
    for (const leave of leaving) leave();
    leaving.clear();
  };
  return { handler, letGo, seen, atWork: () => atWork, maxAtWork: () => maxAtWork };
}

/** Takes everything from a queue into a list. */
async function collect(broker: Broker, queue: string, concurrency = 1) {
  const seen: unknown[] = [];
  const consumer = await broker.consume(queue, { concurrency }, async (message) => {
    seen.push(message);
    return 'ack';
  });
  return { seen, consumer };
}

/** What every `Broker` promises. Called once for each side. */
export function describeBroker(name: string, open: () => Promise<TestBroker>): void {
  describe(`Broker on ${name}`, () => {
    let broker: TestBroker;
    let queue: string;
    let count = 0;

    beforeAll(async () => {
      broker = await open();
    });
    beforeEach(() => {
      count += 1;
      queue = `queue-${count}`;
    });
    afterAll(() => broker.close());

    describe('delivering', () => {
      test('brings every message as it was, roughly in order', async () => {
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

      test('takes nothing for granted: a consumer before the first message, no messages at all', async () => {
        const { seen } = await collect(broker, queue);
        await broker.publish(queue, []);
        await broker.publish(queue, ['first']);
        await eventually(() => expect(seen).toEqual(['first']));
      });

      test('keeps queues apart', async () => {
        await broker.publish(`${queue}-a`, ['a']);
        await broker.publish(`${queue}-b`, ['b']);
        const { seen } = await collect(broker, `${queue}-b`);
        await eventually(() => expect(seen).toEqual(['b']));
        await soon(50);
        expect(seen).toEqual(['b']);
      });

      test('confirms and delivers a large batch, each message once', async () => {
        const messages = numbers(2_000);
        await broker.publish(queue, messages);
        const { seen } = await collect(broker, queue, 20);
        await eventually(() => expect(seen).toHaveLength(messages.length));
        expect(new Set(seen)).toEqual(new Set(messages));
      });

      test('confirms publications made at the same time', async () => {
        await Promise.all(numbers(50).map((number) => broker.publish(queue, [number, number + 100])));
        const { seen } = await collect(broker, queue, 5);
        await eventually(() => expect(new Set(seen).size).toBe(100));
      });
    });

    describe('concurrency', () => {
      test('is reached and never exceeded', async () => {
        const work = slowHandler();
        await broker.publish(queue, numbers(12));
        const consumer = await broker.consume(queue, { concurrency: 4 }, work.handler);
        await eventually(() => expect(work.atWork()).toBe(4));
        await soon(50);
        while (work.seen.length < 12 || work.atWork() > 0) {
          work.letGo();
          await soon(10);
        }
        expect(work.maxAtWork()).toBe(4);
        await consumer.stop();
      });

      test('competing consumers share the work', async () => {
        const [one, two] = [slowHandler(), slowHandler()];
        await broker.consume(queue, { concurrency: 2 }, one.handler);
        await broker.consume(queue, { concurrency: 2 }, two.handler);
        await broker.publish(queue, numbers(4));
        await eventually(() => expect([one.atWork(), two.atWork()]).toEqual([2, 2]));
        one.letGo();
        two.letGo();
        expect(new Set([...one.seen, ...two.seen])).toEqual(new Set(numbers(4)));
      });
    });

    describe('verdicts', () => {
      test('a requeued message is delivered again, with the number of deliveries', async () => {
        const deliveries: number[] = [];
        await broker.consume(queue, { concurrency: 1 }, async (_, context) => {
          deliveries.push(context.deliveries);
          return deliveries.length < 4 ? 'requeue' : 'ack';
        });
        await broker.publish(queue, ['stubborn']);
        await eventually(() => expect(deliveries).toEqual([1, 2, 3, 4]));
        await soon(50);
        expect(deliveries).toHaveLength(4);
      });

      test('a message keeps its id over deliveries', async () => {
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

      test('a message requeued too often is dead-lettered and blocks no other', async () => {
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
        expect(contexts.map(({ deliveries }) => deliveries)).toEqual(
          numbers(deliveryLimit).map((n) => n + 1),
        );
        await eventually(async () => expect(await broker.depth(queue)).toMatchObject({ ready: 0 }));
      });

      test('dead-letter sets a message aside at once, where it can be inspected', async () => {
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

      test('what is not JSON is dead-lettered without calling the handler', async () => {
        const { seen } = await collect(broker, queue);
        await broker.sendText(queue, '{"cut off');
        await broker.publish(queue, ['fine']);
        await eventually(async () => expect(await broker.deadLetterDepth(queue)).toBe(1));
        await eventually(() => expect(seen).toEqual(['fine']));
        await eventually(async () => expect((await broker.deadLetters(queue, 5))[0]?.text).toBe('{"cut off'));
      });

      test('a handler that throws, at once or later, gives the message back', async () => {
        let calls = 0;
        await broker.consume(queue, { concurrency: 1 }, (_, { deliveries }) => {
          calls += 1;
          if (deliveries === 1) throw new Error('at once');
          return deliveries === 2 ? Promise.reject(new Error('later')) : Promise.resolve('ack');
        });
        await broker.publish(queue, ['x']);
        await eventually(() => expect(calls).toBe(3));
        await soon(50);
        expect(calls).toBe(3);
        expect(await broker.deadLetterDepth(queue)).toBe(0);
      });
    });

    describe('pausing and stopping', () => {
      test('a pause takes effect, loses nothing, and resuming goes on', async () => {
        const seen: unknown[] = [];
        let pausing: Promise<void> | undefined;
        const consumer = await broker.consume(queue, { concurrency: 3 }, async (message) => {
          seen.push(message);
          if (seen.length === 6) pausing = consumer.pause();
          await soon(2);
          return 'ack';
        });
        const messages = numbers(300);
        await broker.publish(queue, messages);
        await eventually(() => expect(pausing).toBeDefined());
        await pausing;
        const before = seen.length;
        await soon(100);
        expect(seen.length).toBe(before);
        expect(before).toBeLessThan(messages.length);
        await consumer.resume();
        await eventually(() => expect(new Set(seen)).toEqual(new Set(messages)));
      });

      test('a paused consumer lets running handlers finish and takes nothing new', async () => {
        const work = slowHandler();
        const consumer = await broker.consume(queue, { concurrency: 1 }, work.handler);
        await broker.publish(queue, ['one', 'two']);
        await eventually(() => expect(work.atWork()).toBe(1));
        await consumer.pause();
        work.letGo();
        await eventually(() => expect(work.atWork()).toBe(0));
        await soon(50);
        expect(work.seen).toEqual(['one']);
        await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 1, consumers: 0 }));
        await consumer.resume();
        await eventually(() => expect(work.seen).toEqual(['one', 'two']));
        work.letGo();
      });

      test('pausing and resuming in any haste ends as asked last', async () => {
        const { seen, consumer } = await collect(broker, queue);
        await Promise.all([consumer.pause(), consumer.resume(), consumer.pause(), consumer.resume()]);
        await broker.publish(queue, ['x']);
        await eventually(() => expect(seen).toEqual(['x']));
        await Promise.all([consumer.resume(), consumer.pause()]);
        await broker.publish(queue, ['y']);
        await soon(50);
        expect(seen).toEqual(['x']);
      });

      test('stop waits for running handlers, and the rest stays for others', async () => {
        const work = slowHandler();
        const consumer = await broker.consume(queue, { concurrency: 2 }, work.handler);
        await broker.publish(queue, numbers(5));
        await eventually(() => expect(work.atWork()).toBe(2));
        let isStopped = false;
        const stopping = consumer.stop().then(() => {
          isStopped = true;
        });
        await soon(50);
        expect(isStopped).toBe(false);
        work.letGo();
        await stopping;
        expect(work.atWork()).toBe(0);
        const rest = await collect(broker, queue);
        await eventually(() => expect(new Set(rest.seen)).toEqual(new Set([2, 3, 4])));
        await consumer.stop();
        await consumer.resume();
      });

      test('depth counts what waits and who takes', async () => {
        expect(await broker.depth(queue)).toEqual({ ready: 0, consumers: 0 });
        await broker.publish(queue, numbers(7));
        await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 7, consumers: 0 }));
        const work = slowHandler();
        await broker.consume(queue, { concurrency: 2 }, work.handler);
        await eventually(async () => expect(await broker.depth(queue)).toEqual({ ready: 5, consumers: 1 }));
        work.letGo();
        await eventually(() => expect(work.seen.length).toBe(4));
        work.letGo();
        await eventually(() => expect(work.seen.length).toBe(6));
        work.letGo();
        await eventually(() => expect(work.seen.length).toBe(7));
        work.letGo();
      });

      test('closing during work waits for the handlers; publishing afterwards is refused', async () => {
        const other = await open();
        const work = slowHandler();
        await other.publish('work', numbers(3));
        await other.consume('work', { concurrency: 2 }, work.handler);
        await eventually(() => expect(work.atWork()).toBe(2));
        const closing = other.close();
        setTimeout(work.letGo, 50);
        await closing;
        expect(work.atWork()).toBe(0);
        expect(work.seen).toHaveLength(2);
        await expect(other.publish('work', ['late'])).rejects.toMatchObject({ kind: 'unavailable' });
      });
    });
  });
}
