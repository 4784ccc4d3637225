import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createEgressGuard } from '@secrets/sync-worker';
import { BoundedHttpHandler } from './bounded-http-handler.ts';

interface Sent {
  operation?: string;
  headers?: Record<string, string>;
  status?: number;
}

async function bodyOf(
  content: Buffer,
  { operation, headers = {}, status = 200 }: Sent = {},
): Promise<Buffer> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(content));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const egress = createEgressGuard({}).forDestination({}, `http://127.0.0.1:${port}`);
  const asked = operation === undefined ? {} : { 'x-amz-target': `secretsmanager.${operation}` };
  const request = {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'GET',
    path: '/',
    headers: asked,
  };
  try {
    const { response } = await new BoundedHttpHandler(egress).handle(request as never);
    return await buffer(response.body);
  } finally {
    egress.close();
    server.close();
    server.closeAllConnections();
  }
}

test.each([
  [undefined, 64],
  ['DescribeSecret', 256],
  ['GetSecretValue', 448],
  ['ListSecrets', 1024],
])('a response to %s has at most %i KiB', async (operation, kib) => {
  const sent = operation === undefined ? {} : { operation };
  expect(await bodyOf(Buffer.alloc(kib * 1024), sent)).toHaveLength(kib * 1024);
  await expect(bodyOf(Buffer.alloc(kib * 1024 + 1), sent)).rejects.toMatchObject({ kind: 'unavailable' });
});

test('a compressed response is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  expect(await bodyOf(bomb, { headers: { 'content-encoding': 'gzip' } })).toEqual(bomb);
});

test('a response that is nested deeply is unavailable, and the body of such an error is dropped', async () => {
  const deep = Buffer.from('['.repeat(60_000));
  await expect(bodyOf(deep)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('is nested deeper than 32 levels'),
  });
  expect(await bodyOf(deep, { status: 400 })).toHaveLength(0);
});
