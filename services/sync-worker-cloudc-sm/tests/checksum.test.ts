import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();

const secret = {
  name: 'projects/1/secrets/x',
  createTime: '2026-01-01T00:00:00Z',
  labels: { 'managed-by': 'secrets-sync', 'secrets-destination': '5b0a6c3e-0000-4000-8000-000000000001' },
  replication: { automatic: {} },
  etag: '"1"',
};
const damaged = {
  name: `${secret.name}/versions/1`,
  payload: { data: Buffer.from('one').toString('base64'), dataCrc32c: '1' },
};

test('cloudC-sm 3: a value that is read with the wrong checksum fails the put, and nothing is written', async () => {
  const writes: string[] = [];
  const server = createServer(({ method, url = '' }, response) => {
    if (method === 'GET') response.end(JSON.stringify(url.includes(':access') ? damaged : secret));
    else {
      writes.push(url);
      response.writeHead(409).end('{"error":{"code":409,"status":"ALREADY_EXISTS"}}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connected = driver.keep(await driver.harness.driverWith({ endpointUrl }));
  await expect(driver.put(putRequest('x', 'one'), connected)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('checksum'),
  });
  expect(writes).toHaveLength(1);
  server.close();
  server.closeAllConnections();
});
