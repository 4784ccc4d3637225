import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { credentialsAad } from '@secrets/domain';
import { encrypt, parseKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import type { DestinationSettings, Driver } from '../driver/driver.ts';
import { createEgressGuard } from '../egress/egress-guard.ts';
import { Clients } from './clients.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const context = { log: silentLogger(), egress: createEgressGuard({ allow: [] }), prefix: 'secrets' };
let made: DestinationSettings[] = [];
let closed: string[] = [];
let failing = false;
const driver: Driver = {
  type: 'cloudA-sm',
  connect: async (settings) => {
    if (failing) throw new Error('cannot');
    made.push(settings);
    const label = `${settings.id}#${made.length}`;
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
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(() => {
  made = [];
  closed = [];
  failing = false;
});

test('a client is used again, and has the opened credentials', async () => {
  const clients = new Clients(driver, context, keyRing);
  await clients.use(destination('a'), async () => {});
  await clients.use(destination('a'), async () => {});
  expect(made).toHaveLength(1);
  expect(made[0]!.credentials.reveal()).toEqual({ secret_access_key: 'canary' });
  expect(JSON.stringify(made)).not.toContain('canary');
});

test('a changed destination gets a new client; the old one is closed when its last user is done', async () => {
  const clients = new Clients(driver, context, keyRing);
  let release = () => {};
  const busy = clients.use(
    destination('a', 1),
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  await later();
  await clients.use(destination('a', 2), async () => {});
  expect(closed).toEqual([]);
  release();
  await busy;
  await later();
  expect(closed).toEqual(['a#1']);
});

test('a client that could not be made is not kept', async () => {
  const clients = new Clients(driver, context, keyRing);
  failing = true;
  await expect(clients.use(destination('a'), async () => {})).rejects.toThrow('cannot');
  failing = false;
  await clients.use(destination('a'), async () => {});
});

test('credentials of another destination do not open', async () => {
  const clients = new Clients(driver, context, keyRing);
  const swapped = { ...destination('a'), sealedCredentials: destination('b').sealedCredentials };
  await expect(clients.use(swapped, async () => {})).rejects.toThrow(/another row/);
});

test('the longest unused go when there are too many; all go at the end', async () => {
  const clients = new Clients(driver, context, keyRing);
  for (let index = 0; index < 205; index++) await clients.use(destination(`d${index}`), async () => {});
  await later();
  expect(closed).toHaveLength(5);
  await clients.close();
  await later();
  expect(closed).toHaveLength(205);
});
