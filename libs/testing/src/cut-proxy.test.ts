import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import { eventually } from './eventually.ts';

let echo: Server;
let proxy: CutProxy;
let client: Socket;
let received: string;

beforeEach(async () => {
  echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startCutProxy(`http://127.0.0.1:${(echo.address() as AddressInfo).port}`);
  client = open();
});
afterEach(async () => {
  client.destroy();
  await proxy.end();
  echo.close();
});

function open(): Socket {
  received = '';
  const { hostname, port } = new URL(proxy.url);
  return connect(Number(port), hostname)
    .on('data', (chunk) => {
      received += chunk;
    })
    .on('error', () => undefined);
}

test('a delay applies in both directions and keeps the order, also when it ends', async () => {
  proxy.delay(100);
  const started = performance.now();
  client.write('one,');
  await eventually(() => received === 'one,');
  expect(performance.now() - started).toBeGreaterThanOrEqual(199);
  client.write('two,');
  proxy.delay(0);
  client.write('three');
  await eventually(() => received === 'one,two,three');
});

test('a freeze with new connections holds what they send until it ends', async () => {
  proxy.freeze(true, { withNew: true });
  client.destroy();
  client = open();
  client.write('held');
  await once(client, 'connect');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(received).toBe('');
  proxy.freeze(false);
  await eventually(() => received === 'held');
});

test('more than the buffers hold passes completely', async () => {
  const size = 8_000_000;
  client.write('x'.repeat(size));
  await eventually(() => received.length === size);
});
