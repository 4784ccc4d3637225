import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { foreignRequests } from './request-origin.ts';

const why = foreignRequests({
  allowedHosts: ['Vault.Example', 'fd00::7'],
  isGuarded: (path) => path.startsWith('/control'),
});
const request = (host: string | undefined, more: object = {}, method = 'GET', url = '/') =>
  ({
    method,
    url,
    headers: { host, ...more },
    socket: { localAddress: '::ffff:10.0.0.7' },
  }) as IncomingMessage;

test.each([
  undefined,
  'localhost:8200',
  'LOCALHOST.',
  'console.localhost',
  '127.0.0.1:8200',
  '127.8.9.1',
  '[::1]:8200',
  '0.0.0.0:8200',
  '[::]:8200',
  '10.0.0.7:8200',
  'vault.example',
  'vault.example:443',
  '[fd00::7]',
])('accepts its own names: %s', (host) => {
  expect(why(request(host))).toBeUndefined();
});

test.each([
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '10.0.0.8',
  '[::2]',
  'a b',
  '',
  'vault.example.evil',
])('refuses other names, which a page may have bound to its address: %s', (host) => {
  expect(why(request(host))).toMatch(/ALLOWED_HOSTS/);
});

test.each<[string, object, boolean]>([
  ['of no page', {}, false],
  ['of its own page', { origin: 'http://localhost:8200', 'sec-fetch-site': 'same-origin' }, false],
  ['of a page behind a proxy that is allowed', { origin: 'https://vault.example' }, false],
  ['of another port', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, true],
  ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, true],
  ['of a sandboxed frame', { origin: 'null' }, true],
  ['without an origin', { 'sec-fetch-site': 'cross-site' }, true],
])('of requests that change something, refuses those of other sites: %s', (_case, headers, isRefused) => {
  for (const [method, url] of [
    ['POST', '/'],
    ['DELETE', '/'],
    ['GET', '/control/about'],
  ] as const)
    expect([method, why(request('localhost:8200', headers, method, url)) !== undefined]).toEqual([
      method,
      isRefused,
    ]);
  expect(why(request('localhost:8200', headers))).toBeUndefined();
});
