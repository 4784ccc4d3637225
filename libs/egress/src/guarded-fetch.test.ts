import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import { bytesReadBy } from '../../sync-worker/src/conformance/rules/bytes-read-by.ts';
import { networkFault } from '../../sync-worker/src/responses/network-fault.ts';
import { createEgressGuard, type Egress, guardedDocuments } from './egress-guard.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listening(listener: RequestListener): Promise<{ port: number; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

function egress(options: Parameters<typeof createEgressGuard>[0], endpoint?: string): Egress {
  const made = createEgressGuard(options).forDestination({}, endpoint);
  closers.push(() => made.close());
  return made;
}

const faultOf = async (response: Promise<Response>) => {
  const error = await response.then((received) => received.text()).catch((thrown: unknown) => thrown);
  return networkFault('Get', error as Error);
};

test('fetches from the configured endpoint', async () => {
  const { port } = await listening((_, response) => response.end('here'));
  const url = `http://127.0.0.1:${port}`;
  const response = await egress({}, url).fetch(new Request(url, { method: 'POST', body: 'text' }));
  expect(await response.text()).toBe('here');
});

test.each(['http://127.0.0.1', 'http://[::1]', 'https://127.0.0.1', 'http://localhost'])(
  'refuses %s with a fault that says why',
  async (url) => {
    const { port, server } = await listening((_, response) => response.end('here'));
    let connections = 0;
    server.on('connection', () => (connections += 1));
    const fault = await faultOf(egress({}).fetch(`${url}:${port}/`));
    expect(fault).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('its address is not public'),
    });
    expect(connections).toBe(0);
  },
);

test('connects to the address that was checked, not to a later answer', async () => {
  const { port } = await listening((_, response) => response.end('here'));
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  const guarded = egress({ allow: [`127.0.0.1/32:${port}`], resolve: async () => answers.shift() ?? [] });
  expect(await (await guarded.fetch(`http://rebound.example:${port}/`)).text()).toBe('here');
  expect(answers).toEqual([['10.0.0.1']]);
});

test('returns redirects and does not follow them', async () => {
  const { port } = await listening((_, response) =>
    response.writeHead(307, { location: 'http://10.0.0.1/' }).end(),
  );
  const url = `http://127.0.0.1:${port}`;
  expect((await egress({}, url).fetch(url)).status).toBe(307);
});

const step = 64 * 1024;

test.each([
  [1, undefined],
  [4, 4 * step],
])(
  'stops reading a body after %i times 64 KiB (limit %p) and closes the connection; of an error, it keeps the status',
  async (steps, maxBytes) => {
    const sent = function* () {
      for (;;) yield Buffer.alloc(step, ' ');
    };
    const ended: Promise<void>[] = [];
    const { port } = await listening((request, response) => {
      response.writeHead(Number(request.url?.slice(1)));
      ended.push(pipeline(sent, response).catch(() => undefined));
    });
    const url = `http://127.0.0.1:${port}`;
    const { fetch } = egress({}, url);
    const call = (status: number) => fetch(`${url}/${status}`, maxBytes === undefined ? {} : { maxBytes });
    const read = await bytesReadBy(async () => {
      expect(await faultOf(call(200))).toMatchObject({
        kind: 'unavailable',
        message: `the service sent a response of more than ${steps * 64} KiB`,
      });
    });
    expect(read).toBeGreaterThan(steps * step);
    expect(read).toBeLessThan((steps + 3) * step);
    expect((await call(403)).status).toBe(403);
    await Promise.all(ended);
  },
);

test.each([204, 600])('returns or refuses a response with status %i without a body', async (status) => {
  const { port } = await listening((_, response) => response.writeHead(status).end());
  const url = `http://127.0.0.1:${port}`;
  const response = egress({}, url).fetch(url);
  if (status === 204) expect((await response).status).toBe(status);
  else expect(await faultOf(response)).toMatchObject({ kind: 'unavailable' });
});

test.each([
  ['is nested deeper than 32 levels', '['.repeat(1_000_000)],
  ['has more than 50,000 values', `[${'1,'.repeat(500_000)}1]`],
])(
  'refuses a body that %s, which would take long to parse; of an error, it keeps the status',
  async (excess, body) => {
    const { port } = await listening((request, response) =>
      response.writeHead(Number(request.url?.slice(1)), { 'retry-after': '7' }).end(body),
    );
    const url = `http://127.0.0.1:${port}`;
    const { fetch } = egress({}, url);
    const call = (status: number) => fetch(`${url}/${status}`, { maxBytes: 2 ** 20 });
    expect(await faultOf(call(200))).toMatchObject({
      kind: 'unavailable',
      message: `the service sent a response that ${excess}`,
    });
    const failed = await call(503);
    expect([failed.status, failed.headers.get('retry-after'), await failed.text()]).toEqual([503, '7', '']);
  },
);

test('reports too many headers as unavailable', async () => {
  const { port } = await listening((_, response) => {
    for (let at = 0; at < 20_000; at += 1) response.setHeader(`h${at}`, '1');
    response.end();
  });
  const url = `http://127.0.0.1:${port}`;
  expect(await faultOf(egress({}, url).fetch(url))).toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('headers of more than 16 KiB'),
  });
});

const decoded = Buffer.alloc(16 * 1024 * 1024, 'x');
test.each([
  ['gzip', gzipSync(decoded)],
  ['deflate', deflateSync(decoded)],
  ['br', brotliCompressSync(decoded)],
  ['zstd', zstdCompressSync(decoded)],
  ['gzip, gzip', gzipSync(gzipSync(decoded))],
])('refuses a body in the encoding %s, which may become much larger', async (encoding, body) => {
  const { port } = await listening((_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body),
  );
  const url = `http://127.0.0.1:${port}`;
  const documents = guardedDocuments({ allow: [`127.0.0.1/32:${port}`] })(undefined);
  closers.push(() => documents.close());
  const { signal } = new AbortController();
  for (const fetched of [() => egress({}, url).fetch(url), () => documents.fetch(url, { signal })])
    expect(await faultOf(fetched())).toMatchObject({
      kind: 'unavailable',
      message: 'the service sent a compressed response, which was not requested',
    });
});

test('requests bodies that are not compressed, whatever the client asks for', async () => {
  const { port } = await listening((request, response) =>
    response.setHeader('content-encoding', 'identity').end(request.headers['accept-encoding']),
  );
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'Accept-Encoding': 'gzip' };
  const { fetch } = egress({}, url);
  for (const response of [fetch(url), fetch(url, { headers }), fetch(new Request(url, { headers }))])
    expect(await (await response).text()).toBe('identity');
});

test('reports a closed connection and an aborted call as unavailable', async () => {
  const { port } = await listening((request) => request.url === '/cut' && request.socket.destroy());
  const url = `http://127.0.0.1:${port}`;
  const guarded = egress({}, url);
  expect(await faultOf(guarded.fetch(`${url}/cut`))).toMatchObject({ kind: 'unavailable' });
  const signal = AbortSignal.timeout(50);
  expect(await faultOf(guarded.fetch(url, { signal }))).toMatchObject({ kind: 'unavailable' });
});
