import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { insertToken } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import { eventually } from '@secrets/testing';
import { startGateway, useGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const used = useGateway(keys);
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Asks for a WebSocket on a path, and leaves its half of the connection open. */
async function ask(url: string, path: string, header = ''): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n${header}\r\n`,
  );
  return socket;
}

/** Resolves when the gateway has closed its half and no longer accepts anything. */
const isReset = (socket: Socket) =>
  eventually(() => {
    socket.write('x');
    expect(socket.destroyed).toBe(true);
  });

test('the connection of a refused WebSocket ends, although the client does not end it', async () => {
  const socket = await ask(used.gateway.url, '/v1/sys/events/subscribe/kv');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await once(socket, 'end');
  expect(received).toMatch(/^HTTP\/1.1 403 [\s\S]*permission denied/);
  await isReset(socket);
});

test('a response that the client does not read ends after a time without traffic', async () => {
  const gateway = await startGateway({ keys, ...used }, { stallTimeoutMs: 300 });
  const { token } = await insertToken(used.db);
  const path = '/v1/kv/data/events/subscribe/a?large=30000000';
  const socket = await ask(gateway.url, path, `x-vault-token: ${token}\r\n`);
  try {
    await sleep(1_000); // any byte that this client sends is traffic
    await isReset(socket);
    expect(socket.bytesRead).toBeLessThan(30_000_000);
  } finally {
    await gateway.stop();
  }
});
