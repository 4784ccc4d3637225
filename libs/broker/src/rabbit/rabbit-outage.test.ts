import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { type CutProxy, startCutProxy } from '@secrets/testing/cut-proxy';
import { connect } from 'amqplib';
import { blockingHandler, collect } from '../conformance/broker-under-test.ts';
import { openRabbitTestBroker, type TestBroker } from '../testing.ts';
import { openRabbit } from './rabbit-broker.ts';
import { closeChannel, deadLetterQueue } from './rabbit-queues.ts';

const url = process.env.TEST_AMQP_URL;
const describeOnRabbit = url === undefined ? describe.skip : describe;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

test('refuses a URL of another protocol, without quoting it', () => {
  const open = () => openRabbit({ url: 'http://user:hidden@host', log: silent });
  expect(open).toThrow(/amqp:\/\/ or amqps:\/\//);
  expect(open).not.toThrow(/hidden/);
});

describeOnRabbit('RabbitMQ outages', () => {
  let proxy: CutProxy;
  let broker: TestBroker;

  beforeEach(async () => {
    proxy = await startCutProxy(url!);
    broker = await openRabbitTestBroker({ url: proxy.url, confirmTimeoutMs: 10_000 });
  });
  afterEach(async () => {
    proxy.open();
    await broker.close();
    await proxy.end();
  });

  test('connections cut while publishing: unconfirmed batches are refused, confirmed ones arrive', async () => {
    const confirmed: number[] = [];
    let refused = 0;
    const cutting = setInterval(proxy.cut, 200);
    for (let batch = 0; batch < 30; batch += 1) {
      const messages = numbers(50, batch * 50);
      await broker.publish('q', messages).then(
        () => confirmed.push(...messages),
        (error: { kind?: string }) => {
          expect(error.kind).toBe('unavailable');
          refused += 1;
        },
      );
      await sleep(5);
    }
    clearInterval(cutting);
    await eventually(() => broker.publish('q', ['last']));
    const seen = new Set<unknown>();
    await broker.consume('q', { concurrency: 20 }, async (message) => {
      seen.add(message);
      return 'ack';
    });
    await eventually(() => expect(seen).toContain('last'));
    await eventually(() => expect(confirmed.filter((message) => !seen.has(message))).toEqual([]));
    expect(confirmed.length + refused * 50).toBe(1_500);
  });

  test('connections cut while consuming: every message arrives, and `concurrency` is never exceeded', async () => {
    await broker.publish('q', numbers(400));
    const seen = new Set<unknown>();
    let running = 0;
    let maxRunning = 0;
    await broker.consume('q', { concurrency: 5 }, async (message) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await sleep(5);
      if (seen.size === 10 || seen.size === 100) proxy.cut();
      seen.add(message);
      running -= 1;
      return 'ack';
    });
    await eventually(() => expect(seen.size).toBe(400));
    expect(maxRunning).toBeLessThanOrEqual(5);
    await eventually(async () => expect((await broker.depth('q')).ready).toBe(0));
    expect(await broker.deadLetterDepth('q')).toBe(0);
  });

  test('a paused consumer stays paused across a reconnect', async () => {
    const seen: unknown[] = [];
    const consumer = await broker.consume('q', { concurrency: 1 }, async (message) => {
      seen.push(message);
      return 'ack';
    });
    await consumer.pause();
    proxy.cut();
    await eventually(() => expect(broker.state()).toBe('reconnecting'));
    await eventually(() => expect(broker.state()).toBe('connected'));
    await broker.publish('q', ['x']);
    await eventually(async () => expect(await broker.depth('q')).toEqual({ ready: 1, consumers: 0 }));
    expect(seen).toEqual([]);
    await consumer.resume();
    await eventually(() => expect(seen).toEqual(['x']));
  });

  test('pause takes effect while the server is silent', async () => {
    let started = 0;
    const consumer = await broker.consume('q', { concurrency: 1 }, async () => {
      started += 1;
      await sleep(5);
      return 'ack';
    });
    await broker.publish('q', numbers(500));
    await eventually(() => expect(started).toBeGreaterThan(2));
    proxy.freeze(true);
    await consumer.pause(); // must not wait for the server
    const before = started;
    proxy.freeze(false);
    await eventually(async () => expect((await broker.depth('q')).consumers).toBe(0));
    expect(started).toBe(before);
  });

  test('an outage: publications wait, then are refused, and everything recovers afterwards', async () => {
    const own = await openRabbitTestBroker({ url: proxy.url, confirmTimeoutMs: 2_000 });
    const seen: unknown[] = [];
    await own.consume('q', { concurrency: 1 }, async (message) => {
      seen.push(message);
      return 'ack';
    });
    await eventually(() => own.publish('q', ['before'])); // a busy machine may confirm the first one later
    await eventually(() => expect(seen).toContain('before'));
    proxy.close();
    await eventually(() => expect(own.state()).toBe('reconnecting'));
    await eventually(async () => {
      const asked = Date.now();
      await expect(own.publish('q', ['refused'])).rejects.toMatchObject({ kind: 'unavailable' });
      expect(Date.now() - asked).toBeGreaterThan(600); // shorter until both connections are known to be lost
    });
    await expect(own.depth('q')).rejects.toMatchObject({ kind: 'unavailable' });
    const waiting = own.publish('q', ['waited']);
    proxy.open();
    // The pause between connection attempts may be longer than a publication waits.
    await waiting.catch(() => eventually(() => own.publish('q', ['waited'])));
    await eventually(() => expect(seen).toContain('waited'));
    expect(seen).not.toContain('refused');
    await own.close();
  });

  test('publications and consumers wait for a server that starts later', async () => {
    proxy.close();
    const warnings: string[] = [];
    const log = { ...silent, warn: (_: object, message: string) => warnings.push(message) };
    const early = await openRabbitTestBroker({ url: proxy.url, confirmTimeoutMs: 60_000, log });
    expect(early.state()).toBe('reconnecting');
    const seen: unknown[] = [];
    await early.consume('q', { concurrency: 1 }, async (message) => {
      seen.push(message);
      return 'ack';
    });
    const publishing = early.publish('q', ['patient']);
    await eventually(() => expect(warnings).toContain('broker unreachable; retrying'));
    proxy.open();
    await publishing;
    await eventually(() => expect(seen).toEqual(['patient']));
    expect(early.state()).toBe('connected');
    await early.close();
  });

  test('stop and close do not wait for an unreachable server', async () => {
    proxy.close();
    const never = openRabbit({ url: proxy.url, log: silent, confirmTimeoutMs: 3_600_000 });
    const consumer = await never.consume('q', { concurrency: 1 }, async () => 'ack');
    await consumer.pause();
    await consumer.stop();
    await never.close();
  });

  test('closing a channel ends when the connection is lost before RabbitMQ answers', async () => {
    const connection = await connect(proxy.url);
    connection.on('error', () => undefined);
    const channel = await connection.createChannel();
    proxy.freeze(true);
    const closing = closeChannel(channel);
    proxy.cut();
    await closing;
    await closeChannel(channel); // a channel that is closed already
  });

  test('consumers try again when the server does not answer in time, on the same connection, with one line in the log', async () => {
    const errors: string[] = [];
    const warnings: string[] = [];
    const log = {
      ...silent,
      warn: (_: object, message: string) => warnings.push(message),
      error: (_: object, message: string) => errors.push(message),
    };
    const own = await openRabbitTestBroker({ url: proxy.url, confirmTimeoutMs: 2_000, log });
    await eventually(() => expect(own.state()).toBe('connected'));
    proxy.freeze(true);
    const queues = ['q', 'q2', 'q3'];
    const collected = await Promise.all(queues.map((queue) => collect(own, queue)));
    await eventually(() => expect(warnings).toContain('the broker does not answer; retrying'));
    proxy.freeze(false);
    for (const queue of queues) await eventually(() => own.publish(queue, ['late']));
    for (const { seen } of collected) await eventually(() => expect(seen).toContain('late'));
    expect(warnings.filter((message) => message.startsWith('the broker does not answer'))).toHaveLength(1);
    expect(errors).toEqual([]);
    expect(warnings).not.toContain('broker connection lost');
    await own.close();
  });

  test('stop during an outage waits only for the running handler', async () => {
    const work = blockingHandler();
    const consumer = await broker.consume('q', { concurrency: 1 }, work.handler);
    await broker.publish('q', ['x']);
    await eventually(() => expect(work.running()).toBe(1));
    proxy.close();
    const stopping = consumer.stop();
    work.release();
    await stopping;
    proxy.open();
    await eventually(async () => expect(await broker.depth('q')).toEqual({ ready: 1, consumers: 0 }));
  });

  test('publisher and consumer declare a deleted queue again', async () => {
    const names: string[] = [];
    const direct = await connect(url!);
    const prefix = `test.deleted.${randomUUID()}.`;
    const own = openRabbit({ url: url!, log: silent, queuePrefix: prefix, watchIntervalMs: 200 });
    const seen: unknown[] = [];
    await own.consume('q', { concurrency: 1 }, async (message) => {
      seen.push(message);
      return 'ack';
    });
    names.push(`${prefix}q`, deadLetterQueue(`${prefix}q`));
    await own.publish('q', ['one']);
    await eventually(() => expect(seen).toEqual(['one']));
    const channel = await direct.createChannel();
    await channel.deleteQueue(names[0]!);
    await eventually(async () => {
      await own.publish('q', ['two']); // a message published during the deletion is lost
      expect(seen).toContain('two');
    });
    await own.close();
    for (const name of names) await channel.deleteQueue(name);
    await direct.close();
  });

  test('a queue declared with other arguments is reported and affects no other queue', async () => {
    const prefix = `test.foreign.${randomUUID()}.`;
    const direct = await connect(url!);
    const channel = await direct.createChannel();
    await channel.assertQueue(`${prefix}bad`, { durable: true });
    const errors: string[] = [];
    const log = { ...silent, error: (_: object, message: string) => errors.push(message) };
    const own = openRabbit({ url: url!, log, queuePrefix: prefix });
    await own.consume('bad', { concurrency: 1 }, async () => 'ack');
    await expect(own.publish('bad', ['x'])).rejects.toMatchObject({ kind: 'unavailable' });
    await own.publish('good', ['x']);
    const seen: unknown[] = [];
    await own.consume('good', { concurrency: 1 }, async (message) => {
      seen.push(message);
      return 'ack';
    });
    await eventually(() => expect(seen).toEqual(['x']));
    await eventually(() => expect(errors).toContain('queue cannot be consumed; retrying'));
    await own.close();
    for (const name of ['bad', 'good']) {
      await channel.deleteQueue(prefix + name);
      await channel.deleteQueue(deadLetterQueue(prefix + name));
    }
    await direct.close();
  });
});
