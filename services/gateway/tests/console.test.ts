import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { type Stub, startGateway, startStubs, type TestGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const index = '<!doctype html><title>Console</title>';
const script = 'document.title = "ready";'.repeat(50);
let db: Db;
let stubs: Stub[];
let gateway: TestGateway;
let folder: string;

function writeConsole(): string {
  const to = mkdtempSync(join(tmpdir(), 'console-'));
  mkdirSync(join(to, 'assets'));
  writeFileSync(join(to, 'index.html'), index);
  writeFileSync(join(to, 'assets/app-1a2b.js'), script);
  writeFileSync(join(to, 'assets/app-1a2b.js.br'), brotliCompressSync(script));
  writeFileSync(join(to, 'assets/app-1a2b.js.gz'), gzipSync(script));
  writeFileSync(join(to, '.stamp'), 'not for clients');
  return to;
}

/** Sends one request exactly as written, without normalization of its path. */
async function get(path: string, { method = 'GET', headers = {}, of = gateway }: Asked = {}) {
  const { hostname, port } = new URL(of.url);
  const sent = httpRequest({ hostname, port, method, path, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  of?: TestGateway;
}

const textOf = async (path: string) => String((await get(path)).body);

beforeAll(async () => {
  db = await openTestDb();
  stubs = await startStubs(keys);
  folder = writeConsole();
  gateway = await startGateway({ db, keys, stubs }, { settings: { CONSOLE: true }, consoleFolder: folder });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(stubs.map((stub) => stub.stop()));
  await db.close();
  rmSync(folder, { recursive: true });
});

describe('paths', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'LIST', 'OPTIONS'])('%s is refused', async (method) => {
    for (const path of ['/ui/', '/ui', '/ui/assets/app-1a2b.js']) {
      const { status, headers } = await get(path, { method });
      expect({ path, status, allow: headers.allow }).toEqual({ path, status: 405, allow: 'GET, HEAD' });
    }
  });

  test('an asset that does not exist is not found: an older page must not run HTML as a script', async () => {
    expect(await get('/ui/assets/app-0000.js')).toMatchObject({ status: 404 });
  });

  test.each([
    '/ui/../v1/sys/health',
    '/ui/..%2f..%2fpackage.json',
    '/ui/%2e%2e/%2e%2e/package.json',
    '/ui/..\\..\\package.json',
    '/ui/.stamp',
    '/ui//etc/passwd',
    '/ui/assets/../.stamp',
    '/ui/assets/app-1a2b.js.br',
    '/ui/__proto__',
  ])('only the files of the console can be read: %s', async (path) => {
    expect([index, '{"errors":["the console has no such file"]}']).toContain(await textOf(path));
  });

  test.each(['/ui/', '/ui/index.html', '/ui/?x=1', '/ui/secrets/kv/a.json', '/ui/destinations/'])(
    'a path of the application starts it: %s',
    async (path) => {
      expect(await textOf(path)).toBe(index);
    },
  );

  test.each(['/', '/ui'])('%s leads to the console', async (path) => {
    expect(await get(path)).toMatchObject({ status: 302, headers: { location: '/ui/' } });
  });

  test('the API is not affected', async () => {
    expect(await get('/v1/ui/')).toMatchObject({ status: 403 });
    expect(await get('/uix')).toMatchObject({ status: 404 });
    expect(await get('//ui/')).toMatchObject({ status: 404 });
  });
});

describe('caching and compression', () => {
  const asset = '/ui/assets/app-1a2b.js';

  test('an asset is immutable, and the page is checked each time', async () => {
    const { headers } = await get(asset);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect((await get('/ui/')).headers).toMatchObject({
      'cache-control': 'no-cache',
      etag: expect.anything(),
    });
  });

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
    [undefined, (bytes: Buffer) => bytes],
  ] as const)('a file is sent in the coding that the client accepts: %s', async (coding, decode) => {
    const { headers, body } = await get(asset, { headers: coding ? { 'accept-encoding': coding } : {} });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers).toMatchObject({ vary: 'accept-encoding', 'content-length': String(body.length) });
    expect(decode(body).toString()).toBe(script);
  });

  test('a version that the client has is not sent again, in the same coding', async () => {
    const { etag } = (await get(asset)).headers;
    const again = await get(asset, { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect({ status: again.status, bytes: again.body.length }).toEqual({ status: 304, bytes: 0 });
    const headers = { 'if-none-match': String(etag), 'accept-encoding': 'br' };
    expect((await get(asset, { headers })).status).toBe(200);
  });

  test('HEAD returns the headers alone', async () => {
    const { headers, body } = await get(asset, { method: 'HEAD' });
    expect(headers).toMatchObject({ 'content-length': String(script.length) });
    expect(body).toHaveLength(0);
  });
});

describe('security', () => {
  test.each(['/ui/', '/ui/assets/app-1a2b.js', '/ui/assets/none', '/ui', '/'])(
    '%s has a policy that allows nothing but this origin, and nothing unsafe',
    async (path) => {
      const { headers } = await get(path);
      expect(policyOf(headers)).toMatchObject({
        'default-src': "'none'",
        'script-src': "'self'",
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
        'require-trusted-types-for': "'script'",
      });
      expect(headers['content-security-policy']).not.toMatch(/unsafe-|https?:|\*/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
    },
  );

  test('nothing of it reaches another service, or the audit log', async () => {
    gateway.audit.length = 0;
    for (const stub of stubs) stub.received.length = 0;
    await get('/ui/');
    await get('/ui/assets/none');
    expect(gateway.audit).toEqual([]);
    expect(stubs.flatMap(({ received }) => received)).toEqual([]);
  });
});

describe('without a console', () => {
  test.each([
    ['switched off', { settings: { CONSOLE: false } }, 'the console is switched off (CONSOLE)'],
    [
      'not built',
      { settings: { CONSOLE: true }, consoleFolder: '/nonexistent' },
      'the console is not built: run npm run setup, and restart the service',
    ],
  ])('the gateway serves the API, and says why there is none: %s', async (_, options, sentence) => {
    const other = await startGateway({ db, keys, stubs }, options);
    try {
      const { status, body } = await get('/ui/', { of: other });
      expect({ status, body: JSON.parse(String(body)) }).toEqual({
        status: 404,
        body: { errors: [sentence] },
      });
      expect((await get('/', { of: other })).status).toBe(404);
      expect((await get('/v1/sys/seal-status', { of: other })).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

const policyOf = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(
    String(headers['content-security-policy'])
      .split('; ')
      .map((directive) => [directive.split(' ', 1)[0], directive.slice(directive.indexOf(' ') + 1)]),
  );
