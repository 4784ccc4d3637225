import { randomBytes } from 'node:crypto';
import { type ConfirmChannel, connect } from 'amqplib';
import pTimeout from 'p-timeout';
import type { Broker, BrokerLog } from './broker.ts';
import { openMemoryBroker } from './memory/memory-broker.ts';
import { openRabbit, type RabbitOptions } from './rabbit/rabbit-broker.ts';
import { deadLetterQueue } from './rabbit/rabbit-queues.ts';

/** A broker for one test, and a way around it. */
export interface TestBroker extends Broker {
  /** Inserts a message whose body may not be JSON. */
  sendText(queue: string, text: string): Promise<void>;
}

const silent: BrokerLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const requeuePauseMs = 10;

/**
 * Opens a broker whose queues are removed when it is closed: on the RabbitMQ of `TEST_AMQP_URL` if that is set, otherwise
 * in-process.
 */
export function openTestBroker(log = silent): Promise<TestBroker> {
  const url = process.env.TEST_AMQP_URL;
  return url === undefined ? openMemoryTestBroker(log) : openRabbitTestBroker({ url, log });
}

export async function openMemoryTestBroker(log = silent): Promise<TestBroker> {
  const broker = openMemoryBroker({ log, requeuePauseMs });
  return withClose(broker, {
    sendText: async (queue, text) => broker.publishTexts(queue, [text]),
    afterClose: async () => undefined,
  });
}

export async function openRabbitTestBroker(
  given: Partial<RabbitOptions> & { url: string },
): Promise<TestBroker> {
  const queuePrefix = `test.${randomBytes(8).toString('hex')}.`;
  const broker = openRabbit({ log: silent, requeuePauseMs, queuePrefix, ...given });
  const used = new Set<string>();
  const recorded = (queue: string) => {
    used.add(queuePrefix + queue);
    return queue;
  };
  const recording: Broker = {
    ...broker,
    publish: (queue, messages, options) => broker.publish(recorded(queue), messages, options),
    consume: (queue, options, handler) => broker.consume(recorded(queue), options, handler),
    depth: (queue) => broker.depth(recorded(queue)),
    deadLetterDepth: (queue) => broker.deadLetterDepth(recorded(queue)),
  };
  const direct = process.env.TEST_AMQP_URL ?? given.url; // `given.url` may be that of a proxy that is closed
  return withClose(recording, {
    sendText: async (queue, text) => {
      await broker.depth(recorded(queue)); // declares the queue
      await onChannel(direct, async (channel) => {
        channel.sendToQueue(queuePrefix + queue, Buffer.from(text), { persistent: true });
        await channel.waitForConfirms(); // RabbitMQ may drop what it has not confirmed when the channel is closed
      });
    },
    afterClose: () =>
      onChannel(direct, async (channel) => {
        for (const queue of used) {
          await channel.deleteQueue(queue);
          await channel.deleteQueue(deadLetterQueue(queue));
        }
      }),
  });
}

function withClose(
  broker: Broker,
  { sendText, afterClose }: Pick<TestBroker, 'sendText'> & { afterClose(): Promise<void> },
): TestBroker {
  const bound: Broker = {
    publish: (...given) => broker.publish(...given),
    consume: (...given) => broker.consume(...given),
    depth: (queue) => broker.depth(queue),
    deadLetterDepth: (queue) => broker.deadLetterDepth(queue),
    deadLetters: (...given) => broker.deadLetters(...given),
    resendDeadLetters: (...given) => broker.resendDeadLetters(...given),
    discardDeadLetters: (...given) => broker.discardDeadLetters(...given),
    state: () => broker.state(),
    close: async () => {
      await broker.close();
      await afterClose();
    },
  };
  return { ...bound, sendText };
}

async function onChannel(url: string, work: (channel: ConfirmChannel) => Promise<void>): Promise<void> {
  const connection = await connect(url, { timeout: 10_000 });
  await pTimeout(work(await connection.createConfirmChannel()), {
    milliseconds: 20_000,
    message: 'RabbitMQ did not answer a test within 20 s',
  });
  await connection.close();
}
