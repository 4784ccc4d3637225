import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type CutProxy, startCutProxy } from '@secrets/testing/cut-proxy';
import type { Db } from '../db.ts';
import { createTestDb, type TestDb } from '../testing.ts';
import { openPostgres } from './open-postgres.ts';

let server: TestDb;
let proxy: CutProxy;
let db: Db;

beforeAll(async () => {
  server = await createTestDb();
});
afterAll(() => server?.close());

beforeEach(async () => {
  proxy = await startCutProxy(server.url);
  db = openPostgres({ url: proxy.url, connections: 1, statementTimeoutMs: 1_000, responseTimeoutMs: 2_000 });
  await db.query('select 1');
});
afterEach(async () => {
  await proxy.end();
  await db.close();
});

const unavailable = { kind: 'unavailable', message: 'the database is unavailable' };

test('fails a statement on a connection that went silent, and replaces the connection', async () => {
  proxy.freeze(true);
  await expect(db.query('select 1')).rejects.toMatchObject(unavailable);
  expect(await db.query('select 2 as two')).toEqual([{ two: 2 }]);
});

test('fails a transaction whose connection went silent, and replaces the connection', async () => {
  const work = db.transaction(async (tx) => {
    await tx.query('select 1');
    proxy.freeze(true);
    await tx.query('select 2');
  });
  await expect(work).rejects.toMatchObject(unavailable);
  expect(await db.query('select 2 as two')).toEqual([{ two: 2 }]);
});

test('replaces the connection if it went silent before the rollback', async () => {
  const work = db.transaction(async () => {
    proxy.freeze(true);
    throw new Error('expected in this test');
  });
  await expect(work).rejects.toThrow('expected in this test');
  expect(await db.query('select 2 as two')).toEqual([{ two: 2 }]);
});

test('does not limit the time of an unlimited transaction', async () => {
  await db.transaction((tx) => tx.query('select pg_sleep(2.5)'), { isUnlimited: true });
  await expect(db.query('select pg_sleep(2.5)')).rejects.toMatchObject({ code: '57014' });
});

/** A server that ends each connection in the moment in which it has started, as a Postgres server does that is ended then. */
async function startEndingServer() {
  // https://www.postgresql.org/docs/current/protocol-message-formats.html
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const authenticationOk = message('R', Buffer.alloc(4));
  const readyForQuery = message('Z', Buffer.from('I'));
  const fatal = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([authenticationOk, readyForQuery, fatal])));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return { url: `postgres://u@127.0.0.1:${(listener.address() as AddressInfo).port}/d`, listener };
}

test('survives a server that ends a connection in the moment in which it has started', async () => {
  const { url, listener } = await startEndingServer();
  const ending = openPostgres({ url });
  await expect(ending.query('select 1')).rejects.toMatchObject(unavailable);
  await expect(ending.transaction((tx) => tx.query('select 1'))).rejects.toMatchObject(unavailable);
  await ending.close();
  listener.close();
});
