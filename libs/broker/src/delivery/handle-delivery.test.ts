import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { deliveryLimit, type MessageHandler } from '../broker.ts';
import { handleDelivery } from './handle-delivery.ts';
import { WaitingMessages } from './waiting-messages.ts';

describe('handleDelivery', () => {
  const judge = async (handler: MessageHandler, given: { deliveries?: number; text?: string } = {}) => {
    const lines: string[] = [];
    const note = (fields: object, message: string) => {
      lines.push(`${message} ${JSON.stringify(fields)}`);
    };
    const delivery = {
      queue: 'q',
      messageId: 'm',
      text: '{"entryId":"e1"}',
      deliveries: 1,
      ...given,
    };
    const log = { info: note, warn: note, error: note };
    const options = { handlerTimeoutMs: 30, log, waiting: new WaitingMessages(log) };
    const verdict = await handleDelivery(handler, delivery, options);
    return { verdict, lines };
  };

  test('logs an outage once at its begin and once at its end, however many messages wait', async () => {
    const lines: string[] = [];
    const note = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`);
    const log = { info: note('info'), warn: note('warn'), error: note('error') };
    const options = { handlerTimeoutMs: 30_000, log, waiting: new WaitingMessages(log) };
    let isAway = true;
    const handler = async () => {
      if (isAway) throw new Problem('unavailable', 'the database is unavailable');
      return 'ack' as const;
    };
    const deliver = (messageId: string) =>
      handleDelivery(handler, { queue: 'q', messageId, text: '{}', deliveries: 1 }, options);
    for (const messageId of ['a', 'b', 'a', 'b']) expect(await deliver(messageId)).toBe('wait');
    expect(lines).toEqual(['warn: messages wait: a dependency is away']);
    isAway = false;
    for (const messageId of ['a', 'b', 'c']) expect(await deliver(messageId)).toBe('ack');
    expect(lines.slice(1)).toEqual(['info: messages no longer wait']);
  });

  test('requeues when the handler times out, and ignores its later rejection', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { verdict, lines } = await judge(() => promise);
    expect(verdict).toBe('requeue');
    expect(lines[0]).toMatch(/timed out/);
    reject(new Error('too late'));
    await setImmediate(); // an unhandled rejection would end the process here
  });

  test.each<[string, MessageHandler]>([
    ['rejects', () => Promise.reject(new TypeError('value hunter2 refused'))],
    [
      'throws synchronously',
      () => {
        throw new TypeError('value hunter2 refused');
      },
    ],
  ])('requeues when the handler %s, and does not log the error message', async (_, handler) => {
    const { verdict, lines } = await judge(handler);
    expect(verdict).toBe('requeue');
    expect(lines[0]).toMatch(/message handler threw .*"fault":"TypeError"/);
    expect(lines.join()).not.toMatch(/hunter2/);
  });

  test('turns requeue, but not ack, into dead-letter at the delivery limit', async () => {
    expect((await judge(async () => 'requeue', { deliveries: deliveryLimit - 1 })).verdict).toBe('requeue');
    expect((await judge(async () => 'requeue', { deliveries: deliveryLimit })).verdict).toBe('dead-letter');
    expect((await judge(async () => 'ack', { deliveries: deliveryLimit })).verdict).toBe('ack');
  });

  test('dead-letters a body that is not JSON, and does not log it', async () => {
    const { verdict, lines } = await judge(async () => 'ack', { text: 'hunter2' });
    expect(verdict).toBe('dead-letter');
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toMatch(/hunter2/);
  });
});
