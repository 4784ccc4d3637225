import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { fetchDocument } from './bounded-fetch.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

async function fetchRefused(status: number, headers: Record<string, string> = {}) {
  server = createServer((_request, response) => response.writeHead(status, headers).end()).listen(
    0,
    '127.0.0.1',
  );
  await new Promise((resolve) => server?.once('listening', resolve));
  return fetchDocument(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`).catch(
    (error: unknown) => error,
  );
}

test.each([
  [503, {}, 2],
  [429, {}, 2],
  [429, { 'retry-after': '7' }, 7],
])('status %i with the headers %j says when to try again', async (status, headers, retryAfterSeconds) => {
  expect(await fetchRefused(status, headers)).toMatchObject({ kind: 'unavailable', retryAfterSeconds });
});

test('a status that no repetition changes does not', async () => {
  const problem = await fetchRefused(403);
  expect(problem).toMatchObject({ kind: 'bad_gateway', message: 'the directory returned status 403' });
  expect(problem).not.toHaveProperty('retryAfterSeconds', expect.any(Number));
});
