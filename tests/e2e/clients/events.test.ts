import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { EventSocketClient, type SecretEvent } from './event-socket.ts';

/** Milliseconds after which `EventSocket` of the gateway cuts off a client that does not read. */
const maxUnreadMs = 15_000;

let system: Installation;
const clients: EventSocketClient[] = [];

beforeAll(async () => {
  system = await startInstallation();
  expectStatus(await system.api('POST', 'sys/mounts/app', { type: 'kv-v2' }), 204);
});
afterAll(() => system?.stop());
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Listens, by default to everything with the root token. */
async function listen(
  listening: Partial<Parameters<typeof EventSocketClient.open>[1]> = {},
  options?: { reads?: boolean },
): Promise<EventSocketClient> {
  const all = { token: system.rootToken, ...listening };
  const client = await EventSocketClient.open(system.url, all, options);
  clients.push(client);
  return client;
}

async function tokenWith(policy: string, more: object = {}): Promise<{ token: string; policy: string }> {
  const name = `p-${randomUUID()}`;
  expectStatus(await system.api('POST', `sys/policies/acl/${name}`, { policy }), 204);
  const request = { policies: [name], no_default_policy: true, ...more };
  const created = await system.api('POST', 'auth/token/create', request);
  return { token: expectStatus(created, 200).body.auth.client_token, policy: name };
}

const write = async (name: string, data: object = { password: 'canary-value' }, mount = 'app') =>
  expectStatus(await system.api('POST', `${mount}/data/${name}`, { data }), 200);

const pathOf = (event: SecretEvent): string => event.data.event.metadata.path;
const typeOf = (event: SecretEvent): string => event.data.event_type;

const mayListen = 'path "sys/events/subscribe/*" { capabilities = ["read"] }';
const subscribe = (path: string, types: string) =>
  `path "${path}" { capabilities = ["list", "subscribe"] subscribe_event_types = [${types}] }`;
const deny = (path: string) => `path "${path}" { capabilities = ["deny"] }`;
const read = (path: string) => `path "${path}" { capabilities = ["read"] }`;

test('an event has the fields of Vault, and no value', async () => {
  const client = await listen({ type: 'kv-v2/data-write' });
  expect(client.status).toBe(101);
  await write('shop/db');
  const { data: mounts } = expectStatus(await system.api('GET', 'sys/mounts'), 200).body;
  const event = await client.received((one) => pathOf(one) === 'app/data/shop/db');
  expect(event).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    source: expect.any(String),
    specversion: '1.0',
    type: '*',
    data: {
      event: {
        id: event.id,
        metadata: {
          current_version: '1',
          data_path: 'app/data/shop/db',
          modified: 'true',
          oldest_version: '0',
          operation: 'data-write',
          path: 'app/data/shop/db',
        },
      },
      event_type: 'kv-v2/data-write',
      namespace: '',
      plugin_info: {
        mount_class: 'secret',
        mount_accessor: mounts['app/'].accessor,
        mount_path: 'app/',
        plugin: 'kv',
        version: '2',
      },
    },
    datacontentype: 'application/cloudevents',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(client.text).not.toContain('canary');
});

test('every change is an event of its type', async () => {
  const client = await listen();
  await write('life');
  expectStatus(await system.api('PATCH', 'app/data/life', { data: { a: 'b' } }), 200);
  expectStatus(await system.api('DELETE', 'app/data/life'), 204);
  expectStatus(await system.api('POST', 'app/undelete/life', { versions: [2] }), 204);
  expectStatus(await system.api('POST', 'app/delete/life', { versions: [1, 2] }), 204);
  expectStatus(await system.api('POST', 'app/destroy/life', { versions: [1] }), 204);
  expectStatus(await system.api('POST', 'app/metadata/life', { max_versions: 5 }), 204);
  expectStatus(await system.api('PATCH', 'app/metadata/life', { max_versions: 6 }), 204);
  expectStatus(await system.api('DELETE', 'app/metadata/life'), 204);
  await client.received((event) => typeOf(event) === 'kv-v2/metadata-delete');
  const { events } = client;
  expect(events.map((event) => [typeOf(event), pathOf(event)])).toEqual([
    ['kv-v2/data-write', 'app/data/life'],
    ['kv-v2/data-patch', 'app/data/life'],
    ['kv-v2/data-delete', 'app/data/life'],
    ['kv-v2/undelete', 'app/undelete/life'],
    ['kv-v2/delete', 'app/delete/life'],
    ['kv-v2/destroy', 'app/destroy/life'],
    ['kv-v2/metadata-write', 'app/metadata/life'],
    ['kv-v2/metadata-patch', 'app/metadata/life'],
    ['kv-v2/metadata-delete', 'app/metadata/life'],
  ]);
  expect(events[4].data.event.metadata).toMatchObject({ deleted_versions: '[1,2]', current_version: '2' });
  expect(events[5].data.event.metadata).toMatchObject({ destroyed_versions: '[1]' });
  expect(new Set(events.map(({ id }) => id)).size).toBe(9);
});

test('writes at the same time are all sent', async () => {
  const client = await listen();
  const names = Array.from({ length: 100 }, (_, at) => `many/${at % 20}-${at}`);
  await Promise.all(names.map((name) => write(name)));
  await Promise.all(names.map((name) => write(name)));
  for (const name of names)
    for (const version of ['1', '2'])
      await client.received(
        (event) =>
          pathOf(event) === `app/data/${name}` && event.data.event.metadata.current_version === version,
      );
});

test.each([
  ['kv-v2/data-write', true],
  ['kv*', true],
  ['*', true],
  ['kv-v2/*-write', true],
  ['kv-v2/data-*', true],
  ['kv-v2/data-delete', false],
  ['kv-v1*', false],
  ['database*', false],
])('the type %s includes a write: %s', async (type, isIncluded) => {
  const [client, all] = [await listen({ type }), await listen()];
  await write('typed');
  await all.received((event) => pathOf(event) === 'app/data/typed');
  await write('typed');
  await all.received((event) => event.data.event.metadata.current_version !== '1');
  expect(client.events.some((event) => pathOf(event) === 'app/data/typed')).toBe(isIncluded);
  expectStatus(await system.api('DELETE', 'app/metadata/typed'), 204);
});

describe('a token receives the events of what it may read', () => {
  test.each([
    ['the value', read('app/data/table'), true],
    ['the metadata', read('app/metadata/table'), true],
    ['all of the mount', read('app/*'), true],
    ['a pattern', read('app/data/+'), true],
    ['another secret', read('app/data/tables'), false],
    ['another mount', read('kv/*'), false],
    ['only to write', 'path "app/data/table" { capabilities = ["create", "update"] }', false],
    ['nothing', '', false],
    ['only to subscribe', subscribe('app/data/table', '"kv-v2/data-write"'), true],
    ['only to subscribe to all of the mount', subscribe('app/*', '"*"'), true],
    ['only to subscribe to other events', subscribe('app/*', '"kv-v2/data-delete", "database*"'), false],
    ['only to subscribe to no events', subscribe('app/*', ''), false],
    ['only to subscribe to the metadata', subscribe('app/metadata/*', '"*"'), false],
    ['only to subscribe, but not to this', `${subscribe('app/*', '"*"')} ${deny('app/data/table')}`, false],
    ['all but this', `${read('app/*')} path "app/+/table" { capabilities = ["deny"] }`, false],
  ])('%s', async (_case, policy, isSent) => {
    const { token } = await tokenWith(`${mayListen} ${policy} ${read('app/data/marker')}`);
    const client = await listen({ token });
    await write('table');
    await write('marker');
    await client.received((event) => pathOf(event) === 'app/data/marker');
    expect(client.events.some((event) => pathOf(event) === 'app/data/table')).toBe(isSent);
  });
});

test('a change of the policy applies to the open connection', async () => {
  const { token, policy } = await tokenWith(`${mayListen} ${read('app/data/marker')}`);
  const client = await listen({ token });
  await write('later');
  const wider = { policy: `${mayListen} ${read('app/*')}` };
  await write('marker');
  await client.received((event) => pathOf(event) === 'app/data/marker');
  expectStatus(await system.api('POST', `sys/policies/acl/${policy}`, wider), 204);
  await write('later');
  const event = await client.received((one) => pathOf(one) === 'app/data/later');
  expect(event.data.event.metadata.current_version).toBe('2');
});

test('events of namespaces below are sent on request', async () => {
  const [name, other] = [`n-${randomUUID()}`, `o-${randomUUID()}`];
  for (const each of [name, other]) {
    expectStatus(await system.api('POST', `sys/namespaces/${each}`), 200);
    expectStatus(await system.api('POST', `${each}/sys/mounts/app`, { type: 'kv-v2' }), 204);
  }
  const [root, some, all, own] = [
    await listen(),
    await listen({ query: `?json=true&namespaces=${name.slice(0, 10)}*` }),
    await listen({ query: '?json=true&namespaces=*' }),
    await listen({ headers: { 'x-vault-namespace': name } }),
  ];
  await write('a', {}, `${other}/app`);
  await write('a', {}, `${name}/app`);
  await write('marker');
  const namespaceOf = (event: SecretEvent): string => event.data.namespace;
  for (const client of [some, all, own]) {
    const event = await client.received((one) => namespaceOf(one) === `${name}/`);
    expect(pathOf(event)).toBe('app/data/a');
  }
  await root.received((event) => pathOf(event) === 'app/data/marker');
  expect(new Set(root.events.map(namespaceOf))).toEqual(new Set(['']));
  expect(some.events.map(namespaceOf)).not.toContain(`${other}/`);
  expect(all.events.map(namespaceOf)).toContain(`${other}/`);
  expect(own.events.map(namespaceOf)).toEqual([`${name}/`]);
});

describe('a handshake is refused', () => {
  test.each<[string, Parameters<typeof listen>[0], number, RegExp]>([
    ['without JSON', { query: '' }, 400, /json=true is required/],
    ['with a filter', { query: '?json=true&filter=a' }, 400, /filter is not supported/],
    ['with a bad key', { headers: { 'sec-websocket-key': 'abc' } }, 400, /Sec-WebSocket-Key/],
    ['of another version', { headers: { 'sec-websocket-version': '8' } }, 400, /Sec-WebSocket-Version/],
    ['with a wrong token', { token: 'wrong' }, 403, /./],
    ['to be wrapped', { headers: { 'x-vault-wrap-ttl': '60s' } }, 400, /wrapped/],
  ])('%s', async (_case, listening, status, message) => {
    const client = await listen(listening);
    expect([client.status, client.body]).toEqual([status, expect.stringMatching(message)]);
  });

  test('without the permission for the type', async () => {
    const { token } = await tokenWith(read('sys/events/subscribe/kv-v2/data-write'));
    expect((await listen({ token })).status).toBe(403);
    expect((await listen({ token, type: 'kv-v2/data-write' })).status).toBe(101);
  });

  test('beyond the limit of a token', async () => {
    const { token } = await tokenWith(mayListen);
    const opened = await Promise.all(Array.from({ length: 251 }, () => listen({ token })));
    expect(opened.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  test('that is none', async () => {
    const refused = await system.api('GET', 'sys/events/subscribe/kv*?json=true');
    expect(JSON.stringify(expectStatus(refused, 400).body)).toMatch(/Upgrade: websocket/);
  });
});

test('another upgrade is ignored', async () => {
  const client = await listen({ headers: { upgrade: 'h2c' } });
  expect([client.status, client.body]).toEqual([400, expect.stringMatching(/Upgrade: websocket/)]);
});

test('a bearer token is accepted', async () => {
  const headers = { authorization: `Bearer ${system.rootToken}`, 'x-vault-token': '' };
  expect((await listen({ headers })).status).toBe(101);
});

test('the connection ends when its token is revoked, and the audit log has it with one outcome', async () => {
  const { token } = await tokenWith(mayListen);
  const requestId = randomUUID();
  const client = await listen({ token, headers: { 'x-request-id': requestId } });
  expectStatus(await system.api('POST', 'auth/token/revoke', { token }), 204);
  await client.untilEnded();
  expect(client.closeCode).toBe(1008);
  const lines = readFileSync(join(system.dataDir, 'audit.log'), 'utf8').trim().split('\n');
  const own = lines.map((line) => JSON.parse(line)).filter(({ request_id: id }) => id === requestId);
  expect(own.map(({ type, path, status }) => [type, path, status])).toEqual([
    ['request', 'sys/events/subscribe/kv*', undefined],
    ['response', 'sys/events/subscribe/kv*', 101],
  ]);
});

test('the connection ends when its token expires', async () => {
  const { token } = await tokenWith(mayListen, { ttl: '4s' });
  const client = await listen({ token });
  await client.untilEnded();
  expect(client.closeCode).toBe(1008);
});

describe('a hostile client is disconnected, and the others are served', () => {
  const text = (bytes: number) => Buffer.alloc(bytes, 'a');
  test.each<[string, number | undefined, (client: EventSocketClient) => void]>([
    ['a message', 1008, (client) => client.send(1, text(10))],
    ['a large message', 1009, (client) => client.send(1, text(5_000))],
    ['an unmasked frame', 1002, (client) => client.send(1, text(10), { masked: false })],
    ['an unknown opcode', 1002, (client) => client.send(3, text(10))],
    ['a large ping', 1002, (client) => client.send(9, text(200))],
    [
      'fragments without an end',
      undefined,
      (client) => flood(client, (at) => client.send(at === 0 ? 1 : 0, text(0), { final: false })),
    ],
    ['many pings', undefined, (client) => flood(client, () => client.send(9, text(20)))],
    ['many pongs', undefined, (client) => flood(client, () => client.send(10, text(20)))],
  ])('%s', async (_case, code, attack) => {
    const [client, other] = [await listen(), await listen()];
    attack(client);
    await client.untilEnded();
    expect(client.closeCode).toBe(code);
    await write('after');
    await other.received((event) => pathOf(event) === 'app/data/after');
  });

  const flood = (client: EventSocketClient, send: (at: number) => void) => {
    for (let at = 0; at < 5_000 && client.socket?.destroyed === false; at += 1) send(at);
  };

  test('a ping is answered', async () => {
    const client = await listen();
    client.send(9, Buffer.from('x'));
    await write('ping');
    await client.received((event) => pathOf(event) === 'app/data/ping');
    expect(client.pongs).toBe(1);
  });
});

test('a client that does not read is cut off, and the others are served', async () => {
  const [slow, other] = [await listen({}, { reads: false }), await listen()];
  const long = 'x'.repeat(1_900); // an event has the path twice
  for (let batch = 0; batch < 40; batch += 1)
    await Promise.all(Array.from({ length: 25 }, (_, at) => write(`${long}/${batch}-${at}`)));
  await sleep(maxUnreadMs + 2_000);
  await write('last');
  await other.received((event) => pathOf(event) === 'app/data/last');
  expect(other.events.length).toBeGreaterThan(1_000);
  slow.read();
  await slow.untilEnded();
  expect(slow.closeCode).toBeUndefined();
  expect(slow.events.length).toBeLessThan(1_000);
}, 120_000);

test('the connection ends properly when the service stops', async () => {
  const client = await listen();
  await system.stop();
  await client.untilEnded();
  expect(client.closeCode).toBe(1001);
});
