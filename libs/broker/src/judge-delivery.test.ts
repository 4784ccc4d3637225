import { describe, expect, test } from '@jest/globals';
import { deliveryLimit, type MessageHandler } from './broker.ts';
import { judgeDelivery } from './judge-delivery.ts';

describe('judgeDelivery', () => {
  const judge = async (handler: MessageHandler, given: { deliveries?: number; text?: string } = {}) => {
    const lines: string[] = [];
    const note = (fields: object, message: string) => {
      lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    const delivery = { queue: 'q', messageId: 'm', text: '{"entryId":"e1"}', deliveries: 1, ...given };
    const log = { info: note, warn: note, error: note };
    const verdict = await judgeDelivery(handler, delivery, { handlerTimeoutMs: 30, log });
    return { verdict, lines };
  };

  test('a handler that hangs gives the message back, and may fail later without harm', async () => {
    let failLate = (_: Error) => {};
    const { verdict, lines } = await judge(
      () =>
        new Promise((_, reject) => {
          failLate = reject;
        }),
    );
    expect(verdict).toBe('requeue');
    expect(lines[0]).toMatch(/did not end in time/);
    failLate(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would end the process here
  });

  test('what a handler throws is logged without its message', async () => {
    const { verdict, lines } = await judge(() => Promise.reject(new TypeError('value hunter2 refused')));
    expect(verdict).toBe('requeue');
    expect(lines[0]).toMatch(/message handler threw .*"fault":"TypeError"/);
    expect(lines.join()).not.toMatch(/hunter2/);
  });

  test('requeue becomes dead-letter at the delivery limit, ack does not', async () => {
    expect((await judge(async () => 'requeue', { deliveries: deliveryLimit - 1 })).verdict).toBe('requeue');
    expect((await judge(async () => 'requeue', { deliveries: deliveryLimit })).verdict).toBe('dead-letter');
    expect((await judge(async () => 'ack', { deliveries: deliveryLimit })).verdict).toBe('ack');
  });

  test('a body that is not JSON is dead-lettered without being logged', async () => {
    const { verdict, lines } = await judge(async () => 'ack', { text: 'hunter2' });
    expect(verdict).toBe('dead-letter');
    expect(lines.join()).not.toMatch(/hunter2/);
  });
});
