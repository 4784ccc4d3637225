import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Broker, deadLetterQueue, openRabbit } from '@secrets/broker';
import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { silentLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { type Channel, connect } from 'amqplib';
import { dockerRabbit } from '../../../scripts/test-services/docker-services.ts';
import { installedRabbit } from '../../../scripts/test-services/installed-rabbit.ts';
import type { TestServer } from '../../../scripts/test-services/test-server.ts';
import { type BrokerService, brokerQueues, brokerServices } from '../src/broker/broker-rights.ts';
import { prepareBroker } from '../src/broker/prepare-broker.ts';
import { workers } from '../src/database-roles.ts';

const passwords = Object.fromEntries(
  brokerServices.map((service) => [service, `password-of-${service}`]),
) as Record<BrokerService, string>;

const server = await ownRabbit();
if (typeof server === 'string') console.warn(`not run: permissions of the RabbitMQ users: ${server}`);

/** Starts a separate RabbitMQ with the management API if the tests run with RabbitMQ. Otherwise returns the reason. */
async function ownRabbit(): Promise<TestServer | string> {
  if (process.env.TEST_AMQP_URL === undefined) return 'TEST_AMQP_URL is not set';
  const installed = await installedRabbit({ management: true });
  if (typeof installed !== 'string') return installed;
  return dockerRabbit();
}

const worker = 'sync-worker-clouda-sm';
const workQueue = syncQueue('cloudA-sm');

(typeof server === 'string' ? describe.skip : describe)('RabbitMQ users of the services', () => {
  const { url, managementUrl } = server as TestServer;
  const opened: Broker[] = [];
  const connections = new Map<BrokerService, ReturnType<typeof connect>>();

  beforeAll(() => prepareBroker(managementUrl!, passwords, silentLogger()));
  afterEach(() => Promise.all(opened.splice(0).map((broker) => broker.close())));
  afterAll(async () => {
    for (const connection of connections.values()) await (await connection).close();
    await (server as TestServer).stop();
  });

  const urlOf = (service: BrokerService, password = passwords[service]) =>
    Object.assign(new URL(url), { username: service, password }).toString();

  const brokerOf = (service: BrokerService): Broker => {
    const broker = openRabbit({ url: urlOf(service), log: silentLogger() });
    opened.push(broker);
    return broker;
  };

  /**
   * Each service has one connection for all actions. They are small and follow each other: without `noDelay`, each would wait
   * 40 ms for the acknowledgement of the one before.
   */
  function connectionOf(service: BrokerService): ReturnType<typeof connect> {
    const connection = connections.get(service) ?? connect(urlOf(service), { noDelay: true });
    connections.set(service, connection);
    return connection;
  }

  /** Returns the code with which RabbitMQ refuses an action of a service, 403 if it lacks the permission, or undefined. */
  async function refusal(
    service: BrokerService,
    act: (channel: Channel) => Promise<unknown>,
  ): Promise<unknown> {
    const channel = await (await connectionOf(service)).createChannel();
    const closed = new Promise<unknown>((resolve) => {
      channel.on('error', (error: { code?: unknown }) => resolve(error.code));
      channel.on('close', () => resolve(undefined));
    });
    await act(channel).catch(() => undefined);
    await channel.close().catch(() => undefined);
    return closed;
  }

  const publishTo = (queue: string) => async (channel: Channel) => {
    channel.sendToQueue(queue, Buffer.from('"x"'));
    await channel.checkQueue(queue); // its response follows the refusal, if there is one
  };

  test.each([
    ['secrets', 'sync-control', secretChangesQueue],
    ['sync-control', worker, workQueue],
  ] as const)('%s publishes and %s consumes %s', async (from, to, queue) => {
    const seen = new Promise<unknown>((resolve) => {
      void brokerOf(to).consume(queue, { concurrency: 1 }, async (message) => {
        resolve(message);
        return 'ack';
      });
    });
    await brokerOf(from).publish(queue, [{ from }]);
    expect(await seen).toEqual({ from });
  });

  test('sync-control reads the depth of worker queues, and sends their dead letters again or discards them', async () => {
    const rejected = new Promise<void>((resolve) => {
      void brokerOf(worker).consume(workQueue, { concurrency: 1 }, async () => {
        resolve();
        return 'dead-letter';
      });
    });
    const control = brokerOf('sync-control');
    await control.publish(workQueue, [{ reject: true }]);
    await rejected;
    await eventually(async () => expect(await control.deadLetterDepth(workQueue)).toBe(1));
    expect(await control.deadLetters(workQueue, 10)).toMatchObject([{ text: '{"reject":true}' }]);
    await eventually(async () => expect(await control.deadLetterDepth(workQueue)).toBe(1)); // it is visible again
    expect(await control.resendDeadLetters(workQueue, { limit: 10 })).toBe(1);
    await eventually(async () => expect(await control.deadLetterDepth(workQueue)).toBe(1)); // it is rejected again
    await eventually(async () => expect(await control.discardDeadLetters(workQueue, { limit: 10 })).toBe(1));
    expect(await control.depth(workQueue)).toMatchObject({ consumers: expect.any(Number) });
  });

  const consumed: Partial<Record<BrokerService, string[]>> = {
    'sync-control': [secretChangesQueue, ...brokerQueues.map(deadLetterQueue)],
    ...Object.fromEntries(workers.map((name) => [name, [name.replace('sync-worker-', 'sync.')]])),
  };

  test.each(brokerServices)(
    '%s consumes only its own queues, and declares and deletes nothing',
    async (service) => {
      for (const queue of brokerQueues.flatMap((name) => [name, deadLetterQueue(name)])) {
        const expected = consumed[service]?.includes(queue) ? undefined : 403;
        const got = await refusal(service, (channel) => channel.get(queue));
        expect({ queue, got }).toEqual({ queue, got: expected });
        expect(await refusal(service, (channel) => channel.purgeQueue(queue))).toBe(expected);
        expect(await refusal(service, (channel) => channel.deleteQueue(queue))).toBe(403);
      }
      expect(await refusal(service, (channel) => channel.assertQueue('mine'))).toBe(403);
      expect(await refusal(service, (channel) => channel.assertExchange('mine', 'topic'))).toBe(403);
      expect(await refusal(service, (channel) => channel.bindQueue(workQueue, 'amq.topic', '#'))).toBe(403);
    },
  );

  test('a worker publishes nothing', async () => {
    for (const queue of brokerQueues) expect(await refusal(worker, publishTo(queue))).toBe(403);
    expect(await refusal('sync-control', publishTo(workQueue))).toBeUndefined();
  });

  test('repeated and concurrent runs reset passwords and permissions, and change nothing else', async () => {
    const changed = { ...passwords, [worker]: 'a-new-one' };
    const run = () => prepareBroker(managementUrl!, changed, silentLogger());
    await setRights(managementUrl!, worker, { configure: '.*', write: '.*', read: '.*' });
    expect(await refusal(worker, publishTo(workQueue))).toBeUndefined();
    await Promise.all([run(), run()]);
    expect(await refusal(worker, publishTo(workQueue))).toBe(403);
    await expect(connect(urlOf(worker))).rejects.toThrow(/ACCESS_REFUSED|ACCESS-REFUSED|403/);
    await (await connect(urlOf(worker, changed[worker]))).close();
  });

  test('an unknown administrator is an error that says what to do', async () => {
    const wrong = Object.assign(new URL(managementUrl!), { password: 'wrong' }).toString();
    await expect(prepareBroker(wrong, passwords, silentLogger())).rejects.toThrow(
      /Its volume can be removed/,
    );
  });
});

async function setRights(managementUrl: string, user: string, rights: object): Promise<void> {
  const { origin, username, password } = new URL(managementUrl);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const answer = await fetch(`${origin}/api/permissions/%2F/${user}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(rights),
  });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
}
