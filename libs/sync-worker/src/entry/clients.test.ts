import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { credentialsAad } from '@secrets/domain';
import { encrypt, parseKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import type { DestinationSettings, Driver } from '../driver/driver.ts';
import { createEgressGuard } from '../egress/egress-guard.ts';
import { Clients } from './clients.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const context = { log: silentLogger(), egress: createEgressGuard({ allow: [] }), prefix: 'secrets' };
let connections: DestinationSettings[] = [];
let closed: string[] = [];
let failing = false;
const driver: Driver = {
  type: 'cloudA-sm',
  connect: async (settings) => {
    if (failing) throw new Error('cannot');
    connections.push(settings);
    const label = `${settings.id}#${connections.length}`;
    return {
      put: async () => ({ remote: label }),
      remove: async () => {},
      close: async () => void closed.push(label),
    };
  },
};
const destination = (id: string, revision = 1) => ({
  id,
  type: 'cloudA-sm',
  name: id,
  namespacePath: '',
  revision,
  settings: {},
  sealedCredentials: encrypt(keyRing, credentialsAad(id), Buffer.from('{"secret_access_key":"canary"}')),
});
/** Clients are closed in promise callbacks, which run before the next immediate. */
const settled = () => setImmediate();

beforeEach(() => {
  connections = [];
  closed = [];
  failing = false;
});

test('a client is reused, and gets the decrypted credentials', async () => {
  const clients = new Clients(driver, context, keyRing);
  await clients.use(destination('a'), async () => {});
  await clients.use(destination('a'), async () => {});
  expect(connections).toHaveLength(1);
  expect(connections[0]!.credentials.reveal()).toEqual({ secret_access_key: 'canary' });
  expect(JSON.stringify(connections)).not.toContain('canary');
});

test('a changed destination gets a new client; the old one is closed when its last user is done', async () => {
  const clients = new Clients(driver, context, keyRing);
  const { promise: work, resolve: release } = Promise.withResolvers<void>();
  const busy = clients.use(destination('a', 1), () => work);
  await settled();
  await clients.use(destination('a', 2), async () => {});
  expect(closed).toEqual([]);
  release();
  await busy;
  await settled();
  expect(closed).toEqual(['a#1']);
});

test('a failed connection is not cached', async () => {
  const clients = new Clients(driver, context, keyRing);
  failing = true;
  await expect(clients.use(destination('a'), async () => {})).rejects.toThrow('cannot');
  failing = false;
  await clients.use(destination('a'), async () => {});
});

test("another destination's credentials cannot be decrypted", async () => {
  const clients = new Clients(driver, context, keyRing);
  const swapped = { ...destination('a'), sealedCredentials: destination('b').sealedCredentials };
  await expect(clients.use(swapped, async () => {})).rejects.toThrow(/another row/);
});

test('the least recently used clients beyond 200 are closed, and all of them at the end', async () => {
  const clients = new Clients(driver, context, keyRing);
  for (let index = 0; index < 205; index++) await clients.use(destination(`d${index}`), async () => {});
  await settled();
  expect(closed).toHaveLength(5);
  await clients.close();
  await settled();
  expect(closed).toHaveLength(205);
});
