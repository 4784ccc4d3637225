import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, test } from '@jest/globals';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';

const service = createServer((_from, to) => to.end());
let proxy: CountingProxy;

beforeAll(async () => {
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  proxy = await startCountingProxy(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await proxy?.stop();
  service.close();
});

test('counts each request of a connection once, also if it arrives in parts, and no other paths', async () => {
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.write('PUT /v1/a HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}GET /v1/a HT');
  await eventuallyEqual(async () => proxy.verbs, ['PUT']);
  client.write(
    'TP/1.1\r\nhost: a\r\n\r\nGET /other HTTP/1.1\r\nhost: a\r\n\r\nDELETE /v1/a HTTP/1.1\r\nhost: a\r\n\r\n',
  );
  await eventuallyEqual(async () => proxy.verbs, ['PUT', 'GET', 'DELETE']);
  client.destroy();
});
