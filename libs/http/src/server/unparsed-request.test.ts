import { request } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { openRaw } from '../../tests/raw-connection.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

const running: RunningServer[] = [];

async function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer((_request, response) => response.end('fine'), {
    host: '127.0.0.1',
    port: 0,
    listVerb: true,
    ...options,
  });
  running.push(server);
  return server;
}

afterEach(() => Promise.all(running.splice(0).map((server) => server.stop(0))));

async function answerTo(text: string, options: Partial<ServerOptions> = {}) {
  const raw = await openRaw((await start(options)).port);
  raw.send(text);
  const answer = await raw.closed();
  const end = answer.indexOf('\r\n\r\n');
  return { head: answer.slice(0, end), body: JSON.parse(answer.slice(end)) };
}

test.each<[string, string, number, RegExp]>([
  ['no HTTP', 'hello\r\n\r\n', 400, /not valid HTTP/],
  ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 400, /not valid HTTP/],
  ['a blank in the path', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, /not valid HTTP/],
  ['too long a header', `LIST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, /16 KiB/],
])('%s is answered like every other refusal', async (_name, text, status, sentence) => {
  const { head, body } = await answerTo(text);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/content-type: application\/json/i);
  expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/i);
  expect(body).toEqual({ errors: [expect.stringMatching(sentence)] });
});

test('a request that takes too long', async () => {
  const { head, body } = await answerTo('GET / HTTP/1.1\r\nHost:', { headersTimeoutMs: 50 });
  expect(head).toMatch(/^HTTP\/1.1 408 /);
  expect(body.errors[0]).toMatch(/did not arrive in time/);
});

test('nothing is written into the middle of an answer', async () => {
  const server = await startServer((_request, response) => void response.write('begun'), {
    host: '127.0.0.1',
    port: 0,
  });
  running.push(server);
  const raw = await openRaw(server.port);
  raw.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await raw.received(/begun/);
  raw.send('nonsense\r\n\r\n');
  expect(await raw.closed()).not.toMatch(/errors/);
});

test('the connection of a good request before it is not disturbed', async () => {
  const { port } = await start();
  const raw = await openRaw(port);
  raw.send('LIST / HTTP/1.1\r\nHost: a\r\n\r\n');
  await raw.received(/fine/);
  raw.send('nonsense\r\n\r\n');
  expect(await raw.closed()).toMatch(/fine[\s\S]*HTTP\/1.1 400 [\s\S]*errors/);
  const later = await new Promise((resolve, reject) =>
    request({ port, host: '127.0.0.1' }, (answer) => resolve(answer.statusCode))
      .on('error', reject)
      .end(),
  );
  expect(later).toBe(200);
});
