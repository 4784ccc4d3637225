import { createServer, get, type RequestOptions, type Server } from 'node:http';
import { get as getTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { createEgressGuard, type Egress } from './egress-guard.ts';

let server: Server;
let port: number;
let hosts: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    hosts.push(String(request.headers.host));
    response.end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(
  () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
);

const guard = (options: Parameters<typeof createEgressGuard>[0]) =>
  createEgressGuard(options).forDestination({});

async function fetchThrough(egress: Egress, url: string, options: RequestOptions = {}): Promise<string> {
  try {
    return await new Promise((resolve, reject) => {
      const [start, agent] = url.startsWith('https:') ? [getTls, egress.httpsAgent] : [get, egress.httpAgent];
      start(url, { ...options, agent }, (response) => {
        response.setEncoding('utf8').on('data', resolve);
      }).on('error', reject);
    });
  } finally {
    egress.close();
  }
}

test.each([
  'http://127.0.0.1',
  'http://[::1]',
  'https://127.0.0.1',
  'http://169.254.169.254',
  'https://[::ffff:10.0.0.1]',
])('refuses %s with a fault that names the host', async (url) => {
  const failure = await fetchThrough(guard({}), `${url}:${port}/`).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Fault);
  expect(failure).toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/^connection to [\d.:a-f]+ refused: its address is not public/),
  });
});

test('refuses a name that resolves to a private address, without naming the address', async () => {
  for (const [host, address] of [
    ['inside.example', '10.0.0.1'],
    ['mapped.example', '::ffff:169.254.169.254'],
  ] as const) {
    const egress = guard({ resolve: async () => [address] });
    const failure = await fetchThrough(egress, `http://${host}/`).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`connection to ${host} refused: its address is not public`),
    });
    expect(String(failure)).not.toContain(address);
  }
  await expect(fetchThrough(guard({}), 'http://localhost/')).rejects.toMatchObject({ kind: 'forbidden' });
});

test('reports a name without an address as unavailable', async () => {
  const egress = guard({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
  await expect(fetchThrough(egress, 'http://gone.example/')).rejects.toMatchObject({ kind: 'unavailable' });
});

test('resolves a name once, connects to the checked address and keeps the name in the request', async () => {
  let asked = 0;
  const resolve = async () => (++asked === 1 ? ['127.0.0.1'] : ['10.0.0.1']);
  hosts = [];
  const egress = guard({ allow: [`127.0.0.1/32:${port}`], resolve });
  expect(await fetchThrough(egress, `http://rebinding.example:${port}/`)).toBe('here');
  expect(asked).toBe(1);
  expect(hosts).toEqual([`rebinding.example:${port}`]);
});

test('connects only to the permitted ones of several addresses', async () => {
  const egress = guard({ allow: [`127.0.0.1/32:${port}`], resolve: async () => ['10.0.0.1', '127.0.0.1'] });
  expect(await fetchThrough(egress, `http://several.example:${port}/`)).toBe('here');
});

test('refuses Unix domain sockets', async () => {
  const egress = guard({ allow: ['127.0.0.1'] });
  await expect(
    fetchThrough(egress, 'http://127.0.0.1/', { socketPath: '/tmp/none.sock' }),
  ).rejects.toMatchObject({
    kind: 'forbidden',
  });
});

test("refuses an operator's list that contains anything but addresses", () => {
  expect(() => createEgressGuard({ allow: ['localhost'] })).toThrow(/localhost is not an address/);
});

describe("the operator's endpoint", () => {
  const resolve = async () => ['127.0.0.1'];
  const through = (endpoint: string, url: string) =>
    fetchThrough(createEgressGuard({ resolve }).forDestination({}, endpoint), url);

  test('is permitted without further settings, as an address or a name', async () => {
    expect(await through(`http://127.0.0.1:${port}/store`, `http://127.0.0.1:${port}/`)).toBe('here');
    expect(await through(`http://Store.internal:${port}`, `http://store.internal:${port}/`)).toBe('here');
  });

  test('permits its own host and port only', async () => {
    const endpoint = `http://store.internal:${port}/`;
    for (const url of [
      'http://store.internal/',
      `http://127.0.0.1:${port}/`,
      `http://other.internal:${port}/`,
      `http://sub.store.internal:${port}/`,
    ]) {
      await expect(through(endpoint, url)).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });

  test('has the default port of its scheme', async () => {
    await expect(through('http://store.internal', 'https://store.internal/')).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await expect(through('https://store.internal', 'http://store.internal/')).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('is permitted for its own destination only', async () => {
    const guard = createEgressGuard({ resolve });
    guard.forDestination({}, `http://127.0.0.1:${port}`);
    await expect(fetchThrough(guard.forDestination({}), `http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('is resolved once for each connection', async () => {
    let lookups = 0;
    const counting = createEgressGuard({
      resolve: async () => {
        lookups += 1;
        return ['127.0.0.1'];
      },
    });
    const egress = counting.forDestination({}, `http://store.internal:${port}`);
    expect(await fetchThrough(egress, `http://store.internal:${port}/`)).toBe('here');
    expect(lookups).toBe(1);
  });
});
