import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import {
  createIdentities,
  type Identities,
  type IdentityChange,
  newAuthority,
} from '../../tests/internal-identities.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { openFramePool } from '../frames/frame-pool.ts';
import { internalClient } from '../internal-client.ts';
import { startServer } from '../server/server.ts';
import { serviceApp } from '../service-app/service-app.ts';
import { testCaller, testKeys } from '../testing.ts';
import { InternalTls } from './internal-tls.ts';

const keys = testKeys();
const closers: (() => unknown)[] = [];
let identities: Identities;
let received: string[];

beforeAll(async () => {
  identities = await createIdentities();
});
afterAll(() => identities.remove());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const endpoints = ['gateway', 'sync-control'].map((from) =>
  endpoint({
    ...{ method: 'get', path: `/for/${from}`, summary: 'Respond', from },
    handle: async () => {
      received.push(from);
      return { data: from };
    },
  }),
);

const open = async (service: string, change?: IdentityChange) =>
  InternalTls.open(await identities.folderOf(service, change));

/** Serves as the service `secrets`, which the gateway and sync-control may call. */
async function serve(change?: IdentityChange) {
  received = [];
  const metrics = createMetrics('test', { processMetrics: false });
  const app = serviceApp({
    ...{ service: 'secrets', endpoints, keys, log: silentLogger(), metrics },
    ...{ readiness: {}, databaseTime: Date.now },
  });
  const refusals: string[] = [];
  const tls = await open('secrets', change);
  const callerTls = { tls, callers: app.callers, onRefused: (reason: string) => refusals.push(reason) };
  const server = await startServer(app, { host: '127.0.0.1', port: 0, callerTls });
  closers.push(() => server.stop(0));
  return { server, refusals, tls };
}

function clientOf(from: string, url: string, tls: InternalTls | undefined) {
  const client = internalClient({ from, to: 'secrets', url, keys, tls });
  closers.push(client.close);
  return () => client.call('GET', `/v1/for/${from}`, testCaller());
}

const causeOf = (error: { cause?: unknown }) => String((error.cause as Error)?.message);

test.each(['gateway', 'sync-control'])('%s, which may call, presents its certificate', async (from) => {
  const { server, refusals } = await serve();
  const call = clientOf(from, server.url, await open(from));
  expect([await call(), await call()]).toEqual([from, from]);
  expect([server.url.startsWith('https:'), refusals]).toEqual([true, []]);
});

test('requests of the gateway share connections with certificates, too', async () => {
  const { server } = await serve();
  const pool = openFramePool({
    to: 'secrets',
    url: server.url,
    keys,
    timeoutMs: 5_000,
    tls: await open('gateway'),
  });
  closers.push(pool.close);
  const request = {
    method: 'GET',
    path: '/v1/for/gateway',
    query: '',
    caller: testCaller(),
    body: undefined,
  };
  await eventually(async () => expect(await pool.send(request)).toMatchObject({ status: 200 }));
});

const yearMs = 365 * 86_400_000;

test.each<[string, () => Promise<IdentityChange & { service?: string }>, RegExp]>([
  [
    'whose authority is another one',
    async () => ({ signedBy: await newAuthority() }),
    /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/,
  ],
  [
    'whose certificate has expired',
    async () => ({ issuedAt: new Date(Date.now() - 1.1 * yearMs) }),
    /CERT_HAS_EXPIRED/,
  ],
  ['that may not call', async () => ({ service: 'login' }), /has the names DNS:login, expected: gateway or/],
  [
    'whose name is only in a wildcard',
    async () => ({ names: ['*.example', 'x.gateway'] }),
    /expected: gateway or/,
  ],
  ['whose certificate is for servers only', async () => ({ isClient: false }), /INVALID_PURPOSE/],
])('refuses a client %s', async (_case, change, reason) => {
  const { server, refusals } = await serve();
  const { service = 'gateway', ...identity } = await change();
  const tls = await open(service, { ...identity, folder: 'other' });
  await expect(clientOf('gateway', server.url, tls)()).rejects.toMatchObject({ kind: 'unavailable' });
  expect(received).toEqual([]);
  await eventually(() => expect(refusals).toEqual([expect.stringMatching(reason)]));
});

test('refuses a client without a certificate, or without TLS', async () => {
  const { server, refusals } = await serve();
  const socket: TLSSocket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  const ended = once(socket, 'close');
  socket.on('error', () => undefined).write('GET /v1/for/gateway HTTP/1.1\r\nHost: secrets\r\n\r\n');
  await ended;
  await eventually(() => expect(refusals).toEqual(['no certificate']));
  const plain = once(get({ port: server.port, host: '127.0.0.1' }), 'response');
  await expect(plain).rejects.toThrow();
  expect(received).toEqual([]);
});

test.each<[string, () => Promise<IdentityChange>, RegExp]>([
  ['has another authority', async () => ({ signedBy: await newAuthority() }), /certificate/],
  ['is another service', async () => ({ names: ['login'] }), /has the names DNS:login, expected: secrets/],
  ['has expired', async () => ({ issuedAt: new Date(Date.now() - 1.1 * yearMs) }), /expired/],
  ['has a certificate for clients only', async () => ({ isServer: false }), /purpose/],
])('sends nothing to a server that %s', async (_case, change, reason) => {
  const { server } = await serve(await change());
  const tls = await open('gateway');
  const error = await clientOf('gateway', server.url, tls)().then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(error).toMatchObject({ kind: 'unavailable' });
  expect(causeOf(error!)).toMatch(reason);
  expect(received).toEqual([]);
});

test('a client with a certificate does not call without TLS', async () => {
  const tls = await open('gateway');
  expect(() => clientOf('gateway', 'https://a,http://b', tls)).toThrow('http://b must begin with https:');
});

test('new certificates are used without a restart, at both ends, and unusable ones are not', async () => {
  const { server, tls: served } = await serve();
  const gateway = await open('gateway');
  const presented = async () => {
    const socket: TLSSocket = connect({
      ...gateway.clientOptions('secrets'),
      port: server.port,
      host: '127.0.0.1',
    });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerX509Certificate()!;
    socket.destroy();
    return serialNumber;
  };
  const call = clientOf('gateway', server.url, gateway);
  const first = await presented();
  writeFileSync(join(await identities.folderOf('secrets'), 'tls.key'), 'not a key');
  await expect(served.reload()).rejects.toThrow();
  expect(await presented()).toBe(first);
  await identities.folderOf('secrets');
  await served.reload();
  expect(await presented()).not.toBe(first);
  await identities.folderOf('gateway', { names: ['login'] });
  await gateway.reload();
  await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
  await identities.folderOf('gateway');
  await gateway.reload();
  expect(await call()).toBe('gateway');
});

test.each(['tls.crt', 'tls.key', 'ca.crt'])('does not start without %s', async (name) => {
  const folder = await identities.folderOf('login', { folder: 'incomplete' });
  rmSync(join(folder, name));
  await expect(InternalTls.open(folder)).rejects.toThrow(name);
});
