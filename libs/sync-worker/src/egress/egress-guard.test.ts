import { createServer, get, type RequestOptions, type Server } from 'node:http';
import { get as getTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
])('%s is refused without a connection, as a fault that names the host', async (url) => {
  const failure = await fetchThrough(guard({}), `${url}:${port}/`).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Fault);
  expect(failure).toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/no connection to [\d.:a-f]+ is made/),
  });
});

test('a name that leads inside is refused, in whatever form', async () => {
  for (const [host, address] of [
    ['inside.example', '10.0.0.1'],
    ['mapped.example', '::ffff:169.254.169.254'],
  ] as const) {
    const egress = guard({ resolve: async () => [address] });
    await expect(fetchThrough(egress, `http://${host}/`)).rejects.toMatchObject({ kind: 'forbidden' });
  }
  await expect(fetchThrough(guard({}), 'http://localhost/')).rejects.toMatchObject({ kind: 'forbidden' });
});

test('a name without an address is unavailable', async () => {
  const egress = guard({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
  await expect(fetchThrough(egress, 'http://gone.example/')).rejects.toMatchObject({ kind: 'unavailable' });
});

test('what is allowed is dialled at the checked address, with the name kept, and resolved once', async () => {
  let asked = 0;
  const resolve = async () => (++asked === 1 ? ['127.0.0.1'] : ['10.0.0.1']);
  hosts = [];
  const egress = guard({ allow: [`127.0.0.1/32:${port}`], resolve });
  expect(await fetchThrough(egress, `http://rebinding.example:${port}/`)).toBe('here');
  expect(asked).toBe(1);
  expect(hosts).toEqual([`rebinding.example:${port}`]);
});

test('of several addresses only the permitted ones are dialled', async () => {
  const egress = guard({ allow: [`127.0.0.1/32:${port}`], resolve: async () => ['10.0.0.1', '127.0.0.1'] });
  expect(await fetchThrough(egress, `http://several.example:${port}/`)).toBe('here');
});

test('a socket of the machine is no way round', async () => {
  const egress = guard({ allow: ['127.0.0.1'] });
  await expect(
    fetchThrough(egress, 'http://127.0.0.1/', { socketPath: '/tmp/none.sock' }),
  ).rejects.toMatchObject({
    kind: 'forbidden',
  });
});

test("an operator's list that cannot be read stops the start", () => {
  expect(() => createEgressGuard({ allow: ['localhost'] })).toThrow(/localhost is no address/);
});
