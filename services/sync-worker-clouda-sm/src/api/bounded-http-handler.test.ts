import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createEgressGuard } from '@secrets/sync-worker';
import { BoundedHttpHandler } from './bounded-http-handler.ts';

async function bodyOf(content: Buffer, headers: Record<string, string> = {}, status = 200): Promise<Buffer> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(content));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const egress = createEgressGuard({}).forDestination({}, `http://127.0.0.1:${port}`);
  const request = { protocol: 'http:', hostname: '127.0.0.1', port, method: 'GET', path: '/', headers: {} };
  try {
    const { response } = await new BoundedHttpHandler(egress).handle(request as never);
    return await buffer(response.body);
  } finally {
    egress.close();
    server.close();
    server.closeAllConnections();
  }
}

test('a response of more than 1 MiB is unavailable', async () => {
  expect(await bodyOf(Buffer.alloc(1024 * 1024))).toHaveLength(1024 * 1024);
  await expect(bodyOf(Buffer.alloc(1024 * 1024 + 1))).rejects.toMatchObject({ kind: 'unavailable' });
});

test('a compressed response is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  expect(await bodyOf(bomb, { 'content-encoding': 'gzip' })).toEqual(bomb);
});

test('a response that is nested deeply is unavailable, and the body of such an error is dropped', async () => {
  const deep = Buffer.from('['.repeat(1_000_000));
  await expect(bodyOf(deep)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('is nested deeper than 32 levels'),
  });
  expect(await bodyOf(deep, {}, 400)).toHaveLength(0);
});
