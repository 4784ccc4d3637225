import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { openRaw } from '../../tests/raw-connection.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';
import type { UnparsedRequest } from './unparsed-request.ts';

const running: RunningServer[] = [];

const ok: RequestListener = (_request, response) => response.end('fine');

async function start(handler = ok, options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer(handler, { host: '127.0.0.1', port: 0, listVerb: true, ...options });
  running.push(server);
  return server;
}

afterEach(() => Promise.all(running.splice(0).map((server) => server.stop(0))));

async function responseTo(sent: string, options: Partial<ServerOptions> = {}) {
  const raw = await openRaw((await start(ok, options)).port);
  raw.send(sent);
  const response = await raw.closed();
  const end = response.indexOf('\r\n\r\n');
  return { head: response.slice(0, end), body: JSON.parse(response.slice(end)) };
}

test.each<[string, string, number, RegExp]>([
  ['text that is not HTTP', 'hello\r\n\r\n', 400, /invalid HTTP request/],
  ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 400, /unsupported method/],
  ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, /invalid HTTP request/],
  [
    'a header that is too long',
    `LIST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    /16 KiB/,
  ],
])('responds to %s with a JSON error and a request ID', async (_name, text, status, message) => {
  const { head, body } = await responseTo(text);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/content-type: application\/json\r\n/i);
  expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/i);
  expect(body).toEqual({ errors: [expect.stringMatching(message)] });
});

test('responds to a client that sends all of a long body before it reads', async () => {
  const raw = await openRaw((await start()).port);
  raw.socket.pause();
  raw.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n');
  const sent = new Promise((resolve) => raw.socket.write('a'.repeat(8_000_000), resolve));
  await Promise.race([sent, sleep(1_000)]);
  raw.socket.resume();
  expect(await raw.closed()).toMatch(/^HTTP\/1.1 400 [\s\S]*"errors"/);
});

test('closes the connection of a client that does not stop sending after two seconds', async () => {
  const raw = await openRaw((await start()).port);
  raw.send('nonsense\r\n\r\n');
  const began = performance.now();
  const sending = setInterval(() => raw.send('more\r\n'), 50);
  await raw.closed();
  clearInterval(sending);
  expect(performance.now() - began).toBeLessThan(4_000);
});

test('responds to a request that does not arrive in time with 408', async () => {
  const { head, body } = await responseTo('GET / HTTP/1.1\r\nHost:', { headersTimeoutMs: 50 });
  expect(head).toMatch(/^HTTP\/1.1 408 /);
  expect(body.errors[0]).toMatch(/did not arrive in time/);
});

test('writes nothing into a response that is partly sent', async () => {
  const { port } = await start((_request, response) => void response.write('begun'));
  const raw = await openRaw(port);
  raw.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await raw.received(/begun/);
  raw.send('nonsense\r\n\r\n');
  expect(await raw.closed()).not.toMatch(/errors/);
});

test('does not affect the response to a valid request before it, nor later connections', async () => {
  const { port } = await start();
  const raw = await openRaw(port);
  raw.send('LIST / HTTP/1.1\r\nHost: a\r\n\r\n');
  await raw.received(/fine/);
  raw.send('nonsense\r\n\r\n');
  expect(await raw.closed()).toMatch(/fine[\s\S]*HTTP\/1.1 400 [\s\S]*errors/);
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
});

describe('onUnparsed', () => {
  const refuse = async (onUnparsed: NonNullable<ServerOptions['onUnparsed']>) => {
    const raw = await openRaw((await start(ok, { onUnparsed })).port);
    raw.send('nonsense\r\n\r\n');
    raw.send('more\r\n\r\n');
    return raw.closed();
  };

  test('is called once before the response, with its request ID, status and reason', async () => {
    const reported: UnparsedRequest[] = [];
    const response = await refuse(async (request) => {
      await sleep(20);
      reported.push(request);
    });
    expect(reported).toEqual([
      { requestId: expect.any(String), remoteAddress: '127.0.0.1', status: 400, reason: expect.any(String) },
    ]);
    expect(response).toContain(`x-request-id: ${reported[0]!.requestId}`);
    expect(response).toContain(reported[0]!.reason);
  });

  test('suppresses the response if it rejects', async () => {
    expect(await refuse(() => Promise.reject(new Error('disk full')))).toBe('');
  });
});
