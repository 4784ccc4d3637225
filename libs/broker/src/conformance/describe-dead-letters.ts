import { describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { type BrokerUnderTest, collect, numbers } from './broker-under-test.ts';

export function describeDeadLetters(underTest: BrokerUnderTest): void {
  describe('dead letters', () => {
    /** Publishes messages and dead-letters them. */
    async function park(count: number): Promise<void> {
      const { broker, queue } = underTest;
      const consumer = await broker.consume(queue, { concurrency: 1 }, async () => 'dead-letter');
      await broker.publish(queue, numbers(count));
      await eventually(async () => expect(await broker.deadLetters(queue, count + 1)).toHaveLength(count));
      await expectParked(count);
      await consumer.stop();
    }

    const expectParked = (count: number) =>
      eventually(async () => expect(await underTest.broker.deadLetterDepth(underTest.queue)).toBe(count));
    const idOf = async (text: string) => {
      const { broker, queue } = underTest;
      const found = await broker.deadLetters(queue, 100);
      await expectParked(found.length); // inspecting them hides them for a moment
      return found.find((letter) => letter.text === text)!.messageId;
    };

    test('all of them are sent again, as they were', async () => {
      const { broker, queue } = underTest;
      await park(3);
      expect(await broker.resendDeadLetters(queue, { limit: 10 })).toBe(3);
      await expectParked(0);
      const { seen } = await collect(broker, queue);
      await eventually(() => expect(new Set(seen)).toEqual(new Set([0, 1, 2])));
      expect(seen).toHaveLength(3);
      expect(await broker.resendDeadLetters(queue, { limit: 10 })).toBe(0);
    });

    test('one that is sent again can be dead-lettered again', async () => {
      const { broker, queue } = underTest;
      await park(1);
      await broker.resendDeadLetters(queue, { limit: 10 });
      await broker.consume(queue, { concurrency: 1 }, async () => 'dead-letter');
      await expectParked(1);
    });

    test('those with given IDs are sent again or discarded, and the others stay', async () => {
      const { broker, queue } = underTest;
      await park(3);
      const [first, second] = [await idOf('0'), await idOf('1')];
      expect(await broker.discardDeadLetters(queue, { messageIds: [first, 'none'], limit: 10 })).toBe(1);
      await expectParked(2);
      expect(await broker.resendDeadLetters(queue, { messageIds: [second], limit: 10 })).toBe(1);
      await expectParked(1);
      const { seen } = await collect(broker, queue);
      await eventually(() => expect(seen).toEqual([1]));
      expect(await broker.deadLetters(queue, 10)).toMatchObject([{ text: '2' }]);
    });

    test('no more than `limit` are sent again or discarded', async () => {
      const { broker, queue } = underTest;
      await park(4);
      expect(await broker.discardDeadLetters(queue, { limit: 3 })).toBe(3);
      await expectParked(1);
      expect(await broker.resendDeadLetters(queue, { limit: 0 })).toBe(0);
      await expectParked(1);
    });

    test('a body that is not JSON is sent again unchanged, and dead-lettered again', async () => {
      const { broker, queue } = underTest;
      await collect(broker, queue);
      await broker.sendText(queue, '{"cut off');
      const resend = () => broker.resendDeadLetters(queue, { limit: 10 });
      await eventually(async () => expect(await resend()).toBe(1));
      const parked = [expect.objectContaining({ text: '{"cut off' })];
      await eventually(async () => expect(await broker.deadLetters(queue, 2)).toEqual(parked));
    });
  });
}
