import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import { credentialsAad } from '@secrets/destinations';
import { codehostAppAad } from '@secrets/domain';
import { createEgressGuard } from '@secrets/egress';
import { encrypt, parseKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import type { DestinationSettings, Driver, DriverContext } from '../driver/driver.ts';
import type { IdentityTokens } from '../runtime/identity-tokens.ts';
import { Clients } from './clients.ts';

const keyRing = parseKeyRing(`k1:${randomBytes(32).toString('base64')} bound`, 'test');
const ownServer = 'https://git.example.com';
/** The row of `changed` was created for the public service. */
const app = (id: string) => ({
  appId: 42,
  sealedPrivateKey: encrypt(
    keyRing,
    codehostAppAad({ id, enterpriseUrl: id === 'own' ? ownServer : '' }),
    Buffer.from('a key'),
  ),
  enterpriseUrl: ['own', 'changed'].includes(id) ? ownServer : '',
});
/** A database whose only statement reads an application. */
const db = {
  query: async (_text: string, [id]: readonly unknown[] = []) => (id === 'gone' ? [] : [app(String(id))]),
} as unknown as Sql;
const identityTokens: IdentityTokens = {
  issue: async ({ name, namespacePath }, { audience }) => `${namespacePath}/${name} for ${audience}`,
};
const context = { log: silentLogger(), egress: createEgressGuard({ allow: [] }), prefix: 'secrets' };
let connections: DestinationSettings[] = [];
let contexts: DriverContext[] = [];
let closed: string[] = [];
let failing = false;
const driver: Driver = {
  type: 'cloudA-sm',
  connect: async (settings, own) => {
    if (failing) throw new Error('cannot');
    connections.push(settings);
    contexts.push(own);
    const label = `${settings.id}#${connections.length}`;
    return {
      put: async () => ({ remote: label }),
      remove: async () => {},
      inspect: async () => ({ exists: false }),
      list: async () => ({ secrets: [], next: null }),
      close: async () => void closed.push(label),
    };
  },
};
const destination = (id: string, revision = '1', type = 'cloudA-sm') => ({
  id,
  type,
  name: id,
  namespacePath: '',
  revision,
  settings: {},
  sealedCredentials: encrypt(
    keyRing,
    credentialsAad({ id, type, settings: {} }),
    Buffer.from('{"secret_access_key":"canary"}'),
  ),
  codehostAppId: null as string | null,
  scopeId: null,
  scopeMembers: {},
});
/** Clients are closed in promise callbacks, which run before the next immediate. */
const settled = () => setImmediate();

beforeEach(() => {
  connections = [];
  contexts = [];
  closed = [];
  failing = false;
});

test('a client is reused, and gets the decrypted credentials', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  await clients.use(destination('a'), async () => {});
  await clients.use(destination('a'), async () => {});
  expect(connections).toHaveLength(1);
  expect(connections[0]!.credentials.reveal()).toEqual({ secret_access_key: 'canary' });
  expect(JSON.stringify(connections)).not.toContain('canary');
});

test('what entries remember is found by the name as the destination compares it', async () => {
  const queries: unknown[] = [];
  const remembering = {
    query: async (_: string, params: unknown[]) => {
      queries.push(params);
      return [{ destinationId: 'a', collisionKey: 'NAME', remote: { bytes: 3 } }];
    },
  } as unknown as Sql;
  const clients = new Clients(driver, context, { keyRing, db: remembering, identityTokens });
  await clients.use(destination('a', '1', 'codehost'), async () => {});
  const names = ['name', 'other'].map((externalName) => ({ destinationId: 'a', externalName }));
  expect(await contexts[0]!.remembered(names)).toEqual([{ ...names[0], remote: { bytes: 3 } }]);
  expect(await contexts[0]!.remembered([])).toEqual([]);
  const many = Array.from({ length: 3_000 }, () => names[0]!);
  await contexts[0]!.remembered(many);
  expect(queries.map((params) => (params as unknown[][])[1]!.length)).toEqual([2, 2_000]);
});

test('a changed destination gets a new client; the old one is closed when its last user is done', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  const { promise: work, resolve: release } = Promise.withResolvers<void>();
  const busy = clients.use(destination('a', '1'), () => work);
  await settled();
  await clients.use(destination('a', '2'), async () => {});
  expect(closed).toEqual([]);
  release();
  await busy;
  await settled();
  expect(closed).toEqual(['a#1']);
});

test('a failed connection is not cached', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  failing = true;
  await expect(clients.use(destination('a'), async () => {})).rejects.toThrow('cannot');
  failing = false;
  await clients.use(destination('a'), async () => {});
});

test("another destination's credentials cannot be decrypted", async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  const swapped = { ...destination('a'), sealedCredentials: destination('b').sealedCredentials };
  await expect(clients.use(swapped, async () => {})).rejects.toThrow(/stored with other settings/);
});

test('credentials are not used with another type or connection than they were stored with', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  for (const change of [{ settings: { region: 'eu-central-1' } }, { type: 'codehost' }])
    await expect(clients.use({ ...destination('a'), ...change }, async () => {})).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('stored with other settings'),
    });
  expect(connections).toEqual([]);
  await clients.use({ ...destination('a'), settings: { recovery_window_days: 7 } }, async () => {});
  expect(connections).toHaveLength(1);
});

test('a destination that uses an application gets its ID and private key among the credentials', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  await clients.use({ ...destination('a'), codehostAppId: 'app' }, async () => {});
  expect(connections[0]!.credentials.reveal()).toEqual({
    secret_access_key: 'canary',
    app_id: '42',
    private_key: 'a key',
  });
  const gone = clients.use({ ...destination('b'), codehostAppId: 'gone' }, async () => {});
  await expect(gone).rejects.toMatchObject({ kind: 'rejected' });
});

test.each([
  ['app', 'https://evil.example'],
  ['own', 'https://evil.example'],
  ['own', ''],
  ['own', undefined],
])('the private key of the application %j is not used at the server %j', async (codehostAppId, server) => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  const settings: Record<string, string> = server === undefined ? {} : { enterprise_url: server };
  const refused = clients.use({ ...destination('a'), codehostAppId, settings }, async () => {});
  await expect(refused).rejects.toMatchObject({
    kind: 'rejected',
    message: 'enterprise_url: the code-host application is for another server',
  });
  expect(connections).toEqual([]);
});

test('the private key of an application whose server was changed in the database is not used', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  const changed = { ...destination('a'), codehostAppId: 'changed', settings: { enterprise_url: ownServer } };
  await expect(clients.use(changed, async () => {})).rejects.toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('the code-host application were stored with other settings'),
  });
  expect(connections).toEqual([]);
});

test('the private key of an application is used at its own server', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  const settings = { enterprise_url: ownServer };
  await clients.use({ ...destination('a'), codehostAppId: 'own', settings }, async () => {});
  expect(connections[0]!.credentials.reveal()).toMatchObject({ private_key: 'a key' });
});

test('the identity tokens of a client are about its own destination', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  for (const id of ['a', 'b'])
    await clients.use({ ...destination(id), namespacePath: 'team' }, async () => {});
  const request = { audience: 'exchange', ttlSeconds: 60 };
  const tokens = await Promise.all(contexts.map(({ identityToken }) => identityToken(request)));
  expect(tokens).toEqual(['team/a for exchange', 'team/b for exchange']);
});

test('the least recently used clients beyond 200 are closed, and all of them at the end', async () => {
  const clients = new Clients(driver, context, { keyRing, db, identityTokens });
  for (let index = 0; index < 205; index++) await clients.use(destination(`d${index}`), async () => {});
  await settled();
  expect(closed).toHaveLength(5);
  await clients.close();
  await settled();
  expect(closed).toHaveLength(205);
});
