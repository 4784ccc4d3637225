import { afterEach, expect, test } from '@jest/globals';
import { EventSocketClient, type SecretEvent } from '../e2e/clients/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import { client as apiClient, expectStatus } from '../harness/http.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';

const gateways = ['gateway', 'gateway-2'] as const;
const versionOf = (event: SecretEvent): string => event.data.event.metadata.current_version;

const isLater = (event: SecretEvent): boolean => event.data.event.metadata.path === 'app/data/later';

const define = (suite: Suite) => {
  const clients: EventSocketClient[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  const urlOf = (name: (typeof gateways)[number]) => suite.system.processes[name]!.url;
  const through = (name: (typeof gateways)[number]) => apiClient(urlOf(name), suite.system.rootToken);

  /** Several clients of each gateway, so that both instances of `secrets` serve some. */
  async function listen(): Promise<EventSocketClient[]> {
    const names = gateways.flatMap((name) => Array<typeof name>(4).fill(name));
    const { rootToken: token } = suite.system;
    const opened = await Promise.all(names.map((name) => EventSocketClient.open(urlOf(name), { token })));
    expect(opened.map(({ status }) => status)).toEqual(names.map(() => 101));
    clients.push(...opened);
    return opened;
  }

  test('a client of either gateway receives each write once, whichever gateway it went through', async () => {
    expectStatus(await through('gateway')('POST', 'sys/mounts/app', { type: 'kv-v2' }), 204);
    const listening = await listen();
    const versions = Array.from({ length: 10 }, (_, at) => String(at + 1));
    for (const [at] of versions.entries())
      expectStatus(await through(gateways[at % 2]!)('POST', 'app/data/db', { data: { at } }), 200);
    for (const client of listening) {
      await client.received((event) => versionOf(event) === '10');
      expect(client.events.map(versionOf)).toEqual(versions);
    }
  });

  test('the clients of an instance that ends are disconnected, and connect to the other one', async () => {
    const before = await listen();
    await suite.system.processes['secrets-2']!.stop();
    const after = await listen();
    expectStatus(await through('gateway-2')('POST', 'app/data/later', { data: {} }), 200);
    for (const client of after) await client.received(isLater);
    const ended = async () => before.filter(({ closeCode }) => closeCode !== undefined);
    const others = () => before.filter(({ events }) => events.some(isLater));
    const gone = await eventually(ended, ({ length }) => length + others().length === before.length);
    expect(gone.length).toBeGreaterThan(0);
    expect(gone.map(({ closeCode }) => closeCode)).toEqual(gone.map(() => 1001));
    await suite.system.processes['secrets-2']!.start();
  });
};

await describeDistributed('events, with two gateways and two instances of secrets', define, {
  inPairs: true,
});
