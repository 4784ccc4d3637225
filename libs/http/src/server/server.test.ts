import { copyFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
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
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A handler that answers when the test says so. */
function held() {
  const arrived = Promise.withResolvers<ServerResponse>();
  const handler: RequestListener = (_req: IncomingMessage, res: ServerResponse) => arrived.resolve(res);
  return { handler, arrived: arrived.promise };
}

/** Longer than a test: who waits for its end fails. */
const anHour = 3_600_000;

describe('startServer', () => {
  test('says where it listens', async () => {
    const server = await start(ok);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(await (await fetch(server.url)).text()).toBe('fine');
  });

  test('rejects when the port is taken', async () => {
    const { port } = await start(ok);
    await expect(startServer(ok, { host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('refuses LIST unless asked to accept it', async () => {
    const list = get.replace('GET', 'LIST');
    for (const [listVerb, answer] of [
      [false, /^HTTP\/1.1 400 /],
      [true, /^HTTP\/1.1 200 /],
    ] as const) {
      const raw = await openRaw((await start(ok, { listVerb })).port);
      raw.send(list);
      expect(await raw.received(/\r\n\r\n/)).toMatch(answer);
      raw.socket.destroy();
    }
  });

  test.each([false, true])('Express sees LIST, the address and the scheme (TLS: %s)', async (withTls) => {
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
    const answer = await raw.received(/\]$/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual([
      ...['LIST', '/v1/a', { verb: 'LIST ' }, withTls, '127.0.0.1', '127.0.0.1'],
    ]);
    raw.socket.destroy();
  });

  describe.each([false, true])('bounds (LIST accepted: %s)', (listVerb) => {
    const short = { listVerb, requestTimeoutMs: 200, headersTimeoutMs: 100, keepAliveTimeoutMs: 50 };

    test.each([
      ['nothing', ''],
      ['half a verb', 'LI'],
      ['half a header block', 'GET / HTTP/1.1\r\nHost: a\r\n'],
      ['half a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345'],
    ])('a client that sends %s is cut off', async (_what, sent) => {
      const server = await start((req, res) => req.resume().on('end', () => res.end()), short);
      const raw = await openRaw(server.port);
      raw.send(sent);
      expect(await raw.closed()).toMatch(/^(HTTP\/1.1 408 |$)/);
    });

    test('a client that trickles its header block is cut off', async () => {
      const raw = await openRaw((await start(ok, short)).port);
      raw.send('GET / HTTP/1.1\r\nX: ');
      const trickle = setInterval(() => raw.socket.writable && raw.send('a'), 20);
      raw.socket.once('close', () => clearInterval(trickle));
      expect(await raw.closed()).toMatch(/^(HTTP\/1.1 408 |$)/);
    });

    test('an idle connection is closed', async () => {
      const raw = await openRaw((await start(ok, { listVerb, keepAliveTimeoutMs: 50 })).port);
      raw.send(get);
      expect(await raw.closed()).toMatch(/fine$/);
    });

    test('a long header block is refused', async () => {
      const raw = await openRaw((await start(ok, { listVerb, maxHeaderBytes: 2_000 })).port);
      raw.send(get.replace('Host: a', `Host: a\r\nX: ${'x'.repeat(3_000)}`));
      expect(await raw.closed()).toMatch(/^HTTP\/1.1 431 /);
    });

    test('a client that never reads its answer is cut off', async () => {
      const answer = held();
      const raw = await openRaw((await start(answer.handler, { listVerb, stallTimeoutMs: 100 })).port);
      raw.socket.pause();
      raw.send(get);
      const res = await answer.arrived;
      res.end('x'.repeat(50_000_000));
      await new Promise((resolve) => res.once('close', resolve));
      raw.socket.destroy();
    });
  });

  test('more connections than allowed are closed at once', async () => {
    const { port } = await start(ok, { maxConnections: 1 });
    const first = await openRaw(port);
    expect(await (await openRaw(port)).closed()).toBe('');
    first.send(get);
    await first.received(/fine$/);
    first.socket.destroy();
  });
});

describe('stop', () => {
  test('answers what is in flight and says that the connection closes', async () => {
    const { handler, arrived } = held();
    const server = await start(handler);
    const raw = await openRaw(server.port);
    raw.send(get);
    const res = await arrived;
    const stopped = server.stop(anHour);
    await pause(30);
    res.end('late');
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 200 OK\r\nConnection: close\r\n[\s\S]*late$/);
    await stopped;
  });

  test('closes the connection of an answer whose head was out already', async () => {
    const { handler, arrived } = held();
    const server = await start(handler);
    const raw = await openRaw(server.port);
    raw.send(get);
    const res = await arrived;
    res.write('begun, ');
    await raw.received(/begun/);
    const stopped = server.stop(anHour);
    res.end('ended');
    expect(await raw.closed()).toMatch(/ended/);
    await stopped;
  });

  test('answers pipelined requests that were in flight together', async () => {
    const held: ServerResponse[] = [];
    const server = await start((_req, res) => held.push(res));
    const raw = await openRaw(server.port);
    raw.send(get + get);
    while (held.length < 2) await pause(5);
    held[0]?.write('one');
    const stopped = server.stop(anHour);
    held[0]?.end();
    await pause(30);
    held[1]?.end('two');
    expect(await raw.closed()).toMatch(/one[\s\S]*Connection: close[\s\S]*two$/);
    await stopped;
  });

  test.each([false, true])('closes idle and silent connections at once (TLS: %s)', async (withTls) => {
    const files = withTls ? await selfSignedFiles() : undefined;
    const server = await start(ok, { listVerb: true, ...(files && { tls: files }) });
    const [idle, silent] = [await openRaw(server.port, files?.cert), await openRaw(server.port, files?.cert)];
    idle.send(get);
    await idle.received(/fine$/);
    await pause(20);
    await server.stop(anHour);
    expect(await silent.closed()).toBe('');
    await idle.closed();
    await expect(openRaw(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('cuts off after the grace what is not done, a begun TLS handshake included', async () => {
    const { handler, arrived } = held();
    const server = await start(handler, { tls: await selfSignedFiles() });
    const neverSecure = await openRaw(server.port);
    const waiting = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    waiting.on('error', () => {}).write(get);
    await arrived;
    const from = performance.now();
    await server.stop(150);
    expect(performance.now() - from).toBeGreaterThan(140);
    await neverSecure.closed();
  });

  test('may be asked for twice', async () => {
    const server = await start(ok);
    await Promise.all([server.stop(1_000), server.stop(1_000)]);
    await server.stop(0);
  });
});

describe('TLS', () => {
  /** The certificate that the server shows, as PEM. */
  async function shown(port: number): Promise<string> {
    const socket: TLSSocket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    const pem = socket.getPeerX509Certificate()?.toString() ?? '';
    socket.destroy();
    return pem.trim();
  }

  const plain = (pem: string) => pem.replace(/\r/g, '').trim();

  test('shows a new certificate after reloadTls, and keeps the old one when the new is unusable', async () => {
    const [files, next] = [await selfSignedFiles(), await selfSignedFiles()];
    const server = await start(ok, { tls: files });
    expect(server.url).toMatch(/^https:/);
    expect(await shown(server.port)).toBe(plain(files.cert));

    await writeFile(files.certFile, 'not a certificate');
    await expect(server.reloadTls()).rejects.toThrow();
    expect(await shown(server.port)).toBe(plain(files.cert));

    await copyFile(next.certFile, files.certFile);
    await copyFile(next.keyFile, files.keyFile);
    await server.reloadTls();
    expect(await shown(server.port)).toBe(plain(next.cert));
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

  test('rejects at the start when the files are unusable, and a server without TLS reloads nothing', async () => {
    const files = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };
    await expect(start(ok, { tls: files })).rejects.toMatchObject({ code: 'ENOENT' });
    await (await start(ok)).reloadTls();
  });
});
