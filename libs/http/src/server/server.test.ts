import { EventEmitter, on, once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { openRaw } from '../../tests/raw-connection.ts';
import { selfSignedFiles } from '../../tests/self-signed.ts';
import { operationOf } from '../list-verb/list-verb.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

const running: RunningServer[] = [];

async function start(handler: RequestListener, options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer(handler, { host: '127.0.0.1', port: 0, ...options });
  running.push(server);
  return server;
}

afterEach(() => Promise.all(running.splice(0).map((server) => server.stop(0))));

const ok: RequestListener = (_req, res) => res.end('fine');
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A handler that leaves responding to the test: `next` is the response to the next request. */
function held() {
  const requests = new EventEmitter();
  const responses = on(requests, 'request');
  const handler: RequestListener = (_req, res) => void requests.emit('request', res);
  const next = async (): Promise<ServerResponse> => (await responses.next()).value![0];
  return { handler, next };
}

/** A grace period that no test waits for. */
const anHour = 3_600_000;

describe('startServer', () => {
  test('returns the URL where it listens', async () => {
    const server = await start(ok);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(await (await fetch(server.url)).text()).toBe('fine');
  });

  test.each([
    ['http://b.example:1/v1/x?y=1', '/v1/x?y=1 b.example:1'],
    ['HTTPS://b.example/v1/x', '/v1/x b.example'],
    ['http://[::1]:80?y', '/?y [::1]:80'],
    ['http://b.example', '/ b.example'],
    ['/http://b.example/', '/http://b.example/ a'],
    ['http://user@b.example/x', 'http://user@b.example/x a'],
    ['http:///x', 'http:///x a'],
    ['ftp://b.example/x', 'ftp://b.example/x a'],
  ])('serves the target %s as the path and for the host of %j', async (target, seen) => {
    const { port } = await start((request, response) =>
      response.end(`${request.url} ${request.headers.host}`),
    );
    const raw = await openRaw(port);
    raw.send(get.replace(' / ', ` ${target} `));
    expect(await raw.received(/\r\n\r\n.*/)).toMatch(/^HTTP\/1.1 200 /);
    expect((await raw.received(/\r\n\r\n.+/)).split('\r\n\r\n')[1]).toBe(seen);
    raw.socket.destroy();
  });

  test('rejects if the port is in use', async () => {
    const { port } = await start(ok);
    await expect(startServer(ok, { host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test.each([
    [false, 400],
    [true, 200],
  ])('with listVerb: %s, responds to LIST with %s', async (listVerb, status) => {
    const raw = await openRaw((await start(ok, { listVerb })).port);
    raw.send(get.replace('GET', 'LIST'));
    expect(await raw.received(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    raw.socket.destroy();
  });

  test.each([false, true])(
    'passes LIST, the client address and the scheme to Express (TLS: %s)',
    async (withTls) => {
      const files = withTls ? await selfSignedFiles() : undefined;
      const app = express();
      app.use(express.json(), (req, res) => {
        res.json([operationOf(req), req.originalUrl, req.body, req.secure, req.ip, req.socket.remoteAddress]);
      });
      const { port } = await start(app, { listVerb: true, ...(files && { tls: files }) });
      const raw = await openRaw(port, files?.cert);
      const body = '{"verb": "LIST "}';
      raw.send(
        `LIST /v1/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const response = await raw.received(/\]$/);
      expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toEqual([
        ...['LIST', '/v1/a', { verb: 'LIST ' }, withTls, '127.0.0.1', '127.0.0.1'],
      ]);
      raw.socket.destroy();
    },
  );

  describe.each([false, true])('with listVerb: %s', (listVerb) => {
    const short = { listVerb, requestTimeoutMs: 200, headersTimeoutMs: 100, keepAliveTimeoutMs: 50 };

    test.each([
      ['nothing', ''],
      ['half a verb', 'LI'],
      ['half a header block', 'GET / HTTP/1.1\r\nHost: a\r\n'],
      ['half a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'],
    ])('disconnects a client that sends %s', async (_what, sent) => {
      const server = await start((req, res) => req.resume().on('end', () => res.end()), short);
      const raw = await openRaw(server.port);
      raw.send(sent);
      expect(await raw.closed()).toMatch(/^(HTTP\/1.1 408 |$)/);
    });

    test('disconnects a client that sends its header block too slowly', async () => {
      const raw = await openRaw((await start(ok, short)).port);
      raw.send('GET / HTTP/1.1\r\nX: ');
      const trickle = setInterval(() => raw.socket.writable && raw.send('a'), 20);
      raw.socket.once('close', () => clearInterval(trickle));
      expect(await raw.closed()).toMatch(/^(HTTP\/1.1 408 |$)/);
    });

    test('closes an idle connection', async () => {
      const raw = await openRaw((await start(ok, { listVerb, keepAliveTimeoutMs: 50 })).port);
      raw.send(get);
      expect(await raw.closed()).toMatch(/fine$/);
    });

    test('refuses a header block over `maxHeaderBytes` with 431', async () => {
      const raw = await openRaw((await start(ok, { listVerb, maxHeaderBytes: 2_000 })).port);
      raw.send(get.replace('Host: a', `Host: a\r\nX: ${'x'.repeat(3_000)}`));
      expect(await raw.closed()).toMatch(/^HTTP\/1.1 431 /);
    });

    test('disconnects a client that does not read its response', async () => {
      const { handler, next } = held();
      const raw = await openRaw((await start(handler, { listVerb, stallTimeoutMs: 100 })).port);
      raw.socket.pause();
      raw.send(get);
      const res = await next();
      res.end('x'.repeat(50_000_000));
      await once(res, 'close');
      raw.socket.destroy();
    });
  });

  test('closes connections beyond `maxConnections` immediately', async () => {
    const { port } = await start(ok, { maxConnections: 1 });
    const first = await openRaw(port);
    expect(await (await openRaw(port)).closed()).toBe('');
    first.send(get);
    await first.received(/fine$/);
    first.socket.destroy();
  });

  test('closes idle connections when there are `maxConnections`, so that new ones are accepted again', async () => {
    const { handler, next } = held();
    const { port } = await start(handler, { maxConnections: 2, listVerb: true, keepAliveTimeoutMs: anHour });
    const [idle, busy] = [await openRaw(port), await openRaw(port)];
    idle.send(get);
    (await next()).end('fine');
    await idle.received(/fine$/);
    busy.send(get);
    const response = await next();
    expect(await (await openRaw(port)).closed()).toBe('');
    await idle.closed();
    const late = await openRaw(port);
    late.send(get);
    (await next()).end('late');
    await late.received(/late$/);
    response.end('busy');
    await busy.received(/busy$/);
    for (const { socket } of [busy, late]) socket.destroy();
  });
});

describe('stop', () => {
  test('completes a request in flight with `Connection: close`', async () => {
    const { handler, next } = held();
    const server = await start(handler);
    const raw = await openRaw(server.port);
    raw.send(get);
    const res = await next();
    const stopped = server.stop(anHour);
    await expect(openRaw(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    res.end('late');
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 200 OK\r\nConnection: close\r\n[\s\S]*late$/);
    await stopped;
  });

  test('closes the connection after a response whose headers were already sent', async () => {
    const { handler, next } = held();
    const server = await start(handler);
    const raw = await openRaw(server.port);
    raw.send(get);
    const res = await next();
    res.write('begun, ');
    await raw.received(/begun/);
    const stopped = server.stop(anHour);
    res.end('ended');
    expect(await raw.closed()).toMatch(/ended/);
    await stopped;
  });

  test('completes every pipelined request in flight', async () => {
    const { handler, next } = held();
    const server = await start(handler);
    const raw = await openRaw(server.port);
    raw.send(get + get);
    const [first, second] = [await next(), await next()];
    first.write('one');
    const stopped = server.stop(anHour);
    first.end();
    await raw.received(/one\r\n0\r\n\r\n$/);
    second.end('two');
    expect(await raw.closed()).toMatch(/one[\s\S]*Connection: close[\s\S]*two$/);
    await stopped;
  });

  test.each([false, true])('closes idle and unused connections immediately (TLS: %s)', async (withTls) => {
    const files = withTls ? await selfSignedFiles() : undefined;
    const server = await start(ok, { listVerb: true, ...(files && { tls: files }) });
    const [idle, unused] = [await openRaw(server.port, files?.cert), await openRaw(server.port, files?.cert)];
    idle.send(get);
    await idle.received(/fine$/);
    await server.stop(anHour);
    expect(await unused.closed()).toBe('');
    await idle.closed();
    await expect(openRaw(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('destroys open connections after the grace period, even in the middle of a TLS handshake', async () => {
    const { handler, next } = held();
    const server = await start(handler, { tls: await selfSignedFiles() });
    const neverSecure = await openRaw(server.port);
    const waiting = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    waiting.on('error', () => {}).write(get);
    await next();
    const before = performance.now();
    await server.stop(150);
    expect(performance.now() - before).toBeGreaterThan(140);
    await neverSecure.closed();
  });

  test('can be called more than once', async () => {
    const server = await start(ok);
    await Promise.all([server.stop(1_000), server.stop(1_000)]);
    await server.stop(0);
  });
});

describe('drain', () => {
  test('serves every request, closes its connection afterwards, and is not ready', async () => {
    const server = await start((_request, response) => response.end('fine'), {
      readyPaths: ['/v1/sys/health'],
    });
    const of = async (path: string) => {
      const response = await fetch(server.url + path);
      return [response.status, response.headers.get('connection'), await response.text()];
    };
    expect(await of('/readyz')).toEqual([200, 'keep-alive', 'fine']);
    server.drain();
    expect(await of('/')).toEqual([200, 'close', 'fine']);
    expect(await of('/readyz?serving')).toEqual([200, 'close', 'fine']);
    for (const path of ['/readyz', '/v1/sys/health', '/v1/sys/health?standbyok=true&traffic'])
      expect(await of(path)).toEqual([503, 'close', expect.stringContaining('"ready":false')]);
  });

  test('closes the connection of a request in flight after its response', async () => {
    const { handler, next } = held();
    const server = await start(handler);
    const responding = fetch(server.url);
    const response = await next();
    server.drain();
    response.end('fine');
    expect((await responding).headers.get('connection')).toBe('close');
  });
});

describe('TLS', () => {
  /** Returns the certificate that the server presents, as PEM. */
  async function presented(port: number): Promise<string> {
    const socket: TLSSocket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const pem = socket.getPeerX509Certificate()?.toString() ?? '';
    socket.destroy();
    return pem.trim();
  }

  const normalized = (pem: string) => pem.replace(/\r/g, '').trim();

  test('presents the new certificate after reloadTls, and keeps the old one if the new one is unusable', async () => {
    const [files, next] = [await selfSignedFiles(), await selfSignedFiles()];
    const server = await start(ok, { tls: files });
    expect(server.url).toMatch(/^https:/);
    expect(await presented(server.port)).toBe(normalized(files.cert));

    await writeFile(files.certFile, 'not a certificate');
    await expect(server.reloadTls()).rejects.toThrow();
    expect(await presented(server.port)).toBe(normalized(files.cert));

    await copyFile(next.certFile, files.certFile);
    await copyFile(next.keyFile, files.keyFile);
    await server.reloadTls();
    expect(await presented(server.port)).toBe(normalized(next.cert));
  });

  test.each(['before', 'after'])('refuses TLS 1.1 %s a reload', async (when) => {
    const server = await start(ok, { tls: await selfSignedFiles() });
    if (when === 'after') await server.reloadTls();
    const old = connectTls({
      ...{ port: server.port, host: '127.0.0.1', rejectUnauthorized: false },
      ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' },
    });
    const outcome = await new Promise((resolve) =>
      old.once('error', (error) => resolve(error.message)).once('secureConnect', () => resolve('connected')),
    );
    expect(outcome).toMatch(/alert protocol version/);
  });

  test('rejects the start if the files are unusable', async () => {
    const files = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };
    await expect(start(ok, { tls: files })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('allows reloadTls on a server without TLS', async () => {
    await expect((await start(ok)).reloadTls()).resolves.toBeUndefined();
  });
});
