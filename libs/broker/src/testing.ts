import { randomBytes } from 'node:crypto';
import { createTestDb } from '@secrets/db/testing';
import { connect } from 'amqplib';
import type { Broker, BrokerLog } from './broker.ts';
import { openEmbeddedBroker } from './embedded-broker.ts';
import { openRabbit, type RabbitOptions } from './rabbit-broker.ts';
import { deadLetterQueue } from './rabbit-queues.ts';

export { describeBroker } from './conformance.ts';

/** A broker of one test's own, and a way past it. */
export interface TestBroker extends Broker {
  /** Puts a text into a queue as it is, JSON or not. */
  sendText(queue: string, text: string): Promise<void>;
}

const silent: BrokerLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const requeuePauseMs = 10;

/**
 * A broker with queues of its own, removed when closed: on the RabbitMQ of `TEST_AMQP_URL` when that is set, in-process
 * otherwise.
 */
export function openTestBroker(log = silent): Promise<TestBroker> {
  const url = process.env.TEST_AMQP_URL;
  return url === undefined ? openEmbeddedTestBroker(log) : openRabbitTestBroker({ url, log });
}

export async function openEmbeddedTestBroker(log = silent): Promise<TestBroker> {
  const db = await createTestDb();
  const broker = await openEmbeddedBroker(db, { log, requeuePauseMs });
  return withClose(broker, {
    sendText: async (queue, text) => {
      await db.query('insert into broker.messages (queue, body) values ($1, $2)', [queue, text]);
    },
    afterClose: () => db.close(),
  });
}

export async function openRabbitTestBroker(
  given: Partial<RabbitOptions> & { url: string },
): Promise<TestBroker> {
  const queuePrefix = `test.${randomBytes(8).toString('hex')}.`;
  const broker = openRabbit({ log: silent, requeuePauseMs, queuePrefix, ...given });
  const used = new Set<string>();
  const using = (queue: string) => {
    used.add(queuePrefix + queue);
    return queue;
  };
  const watched: Broker = {
    ...broker,
    publish: (queue, messages) => broker.publish(using(queue), messages),
    consume: (queue, options, handler) => broker.consume(using(queue), options, handler),
    depth: (queue) => broker.depth(using(queue)),
    deadLetterDepth: (queue) => broker.deadLetterDepth(using(queue)),
  };
  const direct = process.env.TEST_AMQP_URL ?? given.url; // `given.url` may lead through a proxy that is cut
  return withClose(watched, {
    sendText: async (queue, text) => {
      await broker.depth(using(queue)); // declares it
      await onChannel(direct, async (channel) => {
        channel.sendToQueue(queuePrefix + queue, Buffer.from(text), { persistent: true });
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
    state: () => broker.state(),
    close: async () => {
      await broker.close();
      await afterClose();
    },
  };
  return { ...bound, sendText };
}

type Channel = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>;

async function onChannel(url: string, work: (channel: Channel) => Promise<void>): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await work(channel);
  await channel.close();
  await connection.close();
}
