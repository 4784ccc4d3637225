import { execFile, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { generatedRequests, generatedSplits, split } from '../../tests/generated-requests.ts';
import { openRaw } from '../../tests/raw-connection.ts';
import { selfSignedFiles } from '../../tests/self-signed.ts';
import { acceptListVerb, operationOf } from './list-verb.ts';

interface SeenRequest {
  verb: string;
  body: string;
}

let seen: SeenRequest[] = [];
let server: http.Server | https.Server;
let port = 0;
let trusted: string | undefined;

/** Records each request as it arrives, and responds once its body is read. */
async function record(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
  const request = { verb: operationOf(req), body: '' };
  seen.push(request);
  const pieces: Buffer[] = await req.toArray().catch(() => []);
  request.body = Buffer.concat(pieces).toString('latin1');
  res.end('done;');
}

async function listen(on: http.Server | https.Server): Promise<void> {
  server = on;
  acceptListVerb(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
}

const responses = (count: number) => new RegExp(`(done;[\\s\\S]*){${count}}`);
const verbs = () => seen.map(({ verb }) => verb);
const host = 'Host: a\r\n';
const list = `LIST /x HTTP/1.1\r\n${host}\r\n`;
const get = `GET /x HTTP/1.1\r\n${host}\r\n`;
const post = (body: string) =>
  `POST /x HTTP/1.1\r\n${host}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (...pieces: string[]) =>
  `POST /x HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n` +
  `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;

beforeEach(() => {
  seen = [];
  trusted = undefined;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const transports: [string, () => Promise<http.Server | https.Server>][] = [
  ['TCP', async () => http.createServer(record)],
  [
    'TLS',
    async () => {
      const files = await selfSignedFiles();
      trusted = files.cert;
      return https.createServer({ cert: files.cert, key: await readFile(files.keyFile) }, record);
    },
  ],
];

describe.each(transports)('LIST over %s', (_name, create) => {
  beforeEach(async () => {
    await listen(await create());
  });

  /** Sends the pieces one after the other and waits for the responses. */
  async function send(pieces: readonly string[], count: number): Promise<void> {
    const raw = await openRaw(port, trusted);
    for (const piece of pieces) {
      await new Promise((resolve) => raw.socket.write(piece, 'latin1', resolve));
    }
    await raw.received(responses(count));
    raw.socket.destroy();
  }

  test('is accepted as the first request and after others', async () => {
    await send([list, get, list, post('a'), list, chunked('b'), list], 7);
    expect(verbs()).toEqual(['LIST', 'GET', 'LIST', 'POST', 'LIST', 'POST', 'LIST']);
  });

  test('is accepted in a pipeline that is cut in two at any byte', async () => {
    const text = get + list + post('LIST ') + list;
    const cuts = Array.from({ length: text.length }, (_, at) => [text.slice(0, at), text.slice(at)]);
    await Promise.all(cuts.map((pieces) => send(pieces, 4)));
    expect(seen.length).toBe(4 * text.length);
    expect(seen.filter(({ verb }) => verb === 'LIST').length).toBe(2 * text.length);
    expect(seen.filter(({ body }) => body === 'LIST ').length).toBe(text.length);
  });

  test('is accepted if every byte arrives alone', async () => {
    await send([...(list + chunked('LIST ', 'LIST /x HTTP/1.1') + list)], 3);
    expect(seen).toEqual([
      { verb: 'LIST', body: '' },
      { verb: 'POST', body: 'LIST LIST /x HTTP/1.1' },
      { verb: 'LIST', body: '' },
    ]);
  });

  test('does not change any other part of random request sequences', async () => {
    const property = fc.asyncProperty(generatedRequests, generatedSplits, async (requests, lengths) => {
      seen = [];
      await send(split(requests.map(({ wire }) => wire).join(''), lengths), requests.length);
      expect(seen).toEqual(requests.map(({ verb, body }) => ({ verb, body })));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('does not change a body that begins with LIST and arrives after the headers', async () => {
    const text = post('LIST /x HTTP/1.1\r\n\r\n');
    const body = text.indexOf('LIST');
    const raw = await openRaw(port, trusted);
    const headersArrived = once(server, 'request');
    raw.send(text.slice(0, body));
    await headersArrived;
    raw.send(text.slice(body) + list);
    await raw.received(responses(2));
    expect(seen).toEqual([
      { verb: 'POST', body: 'LIST /x HTTP/1.1\r\n\r\n' },
      { verb: 'LIST', body: '' },
    ]);
    raw.socket.destroy();
  });

  test('is accepted from keep-alive clients', async () => {
    const { Agent, request } = trusted ? https : http;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const [method, body] of [['LIST'], ['PUT', 'LIST '], ['LIST']] as const) {
      const req = request({ port, host: '127.0.0.1', agent, method, ca: trusted });
      const [res] = (await once(req.end(body), 'response')) as [http.IncomingMessage];
      await res.toArray();
    }
    agent.destroy();
    expect(verbs()).toEqual(['LIST', 'PUT', 'LIST']);
    expect(seen[1]?.body).toBe('LIST ');
  });

  test('is accepted after a body of 5 MB that is read only once the connection is paused', async () => {
    const body = randomBytes(5_000_000);
    const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    server.removeAllListeners('request').on('request', async (req, res) => {
      if (req.method === 'POST') await once(req.socket, 'pause');
      await record(req, res);
    });
    await send([post('').replace('Length: 0', `Length: ${body.length}`), body.toString('latin1'), list], 2);
    expect(verbs()).toEqual(['POST', 'LIST']);
    expect(sum(Buffer.from(seen[0]?.body ?? '', 'latin1'))).toBe(sum(body));
  });

  test('is accepted after a request with `Expect: 100-continue`', async () => {
    const raw = await openRaw(port, trusted);
    raw.send(post('LIST ').replace(host, `${host}Expect: 100-continue\r\n`).slice(0, -5));
    await raw.received(/100 Continue\r\n\r\n/);
    raw.send(`LIST ${list}`);
    await raw.received(responses(2));
    expect(seen).toEqual([
      { verb: 'POST', body: 'LIST ' },
      { verb: 'LIST', body: '' },
    ]);
    raw.socket.destroy();
  });

  test('is aborted if the client disconnects in the middle of the body', async () => {
    const raw = await openRaw(port, trusted);
    const headersArrived = once(server, 'request') as Promise<[http.IncomingMessage]>;
    raw.send(`LIST /x HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\nLIST`);
    const [req] = await headersArrived;
    const aborted = once(req, 'aborted');
    raw.socket.destroy();
    await aborted;
  });

  test('gets its response if the client half-closes the connection after the request', async () => {
    const raw = await openRaw(port, trusted);
    raw.socket.end(list);
    expect(await raw.closed()).toMatch(responses(1));
    expect(verbs()).toEqual(['LIST']);
  });

  test.each(['LINK', 'LISK', 'LINT', 'LISTS', 'list'])('does not make %s a known verb', async (verb) => {
    const raw = await openRaw(port, trusted);
    raw.send(list.replace('LIST', verb));
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 400 /);
    expect(seen).toEqual([]);
  });

  test('is rejected by the parser once the framing is doubtful', async () => {
    const raw = await openRaw(port, trusted);
    raw.send(`${post('LIST ').replace(host, `${host}Transfer-Encoding: gzip, chunked\r\n`)}`);
    expect(await raw.closed()).toMatch(/^HTTP\/1.1 400 /);
    const other = await openRaw(port, trusted);
    other.send(`${list.replace(host, `${host}Transfer-Encoding: gzip, chunked\r\n`)}0\r\n\r\n`);
    await other.received(responses(1));
    other.send(list);
    expect(await other.closed()).toMatch(/ 400 Bad Request/);
    expect(verbs()).toEqual(['LIST']);
  });
});

const testWithCurl = spawnSync('curl', ['--version']).error === undefined ? test : test.skip;

describe('LIST on a plain server', () => {
  beforeEach(() => listen(http.createServer(record)));

  testWithCurl('is accepted from curl, more than once on one connection', async () => {
    const address = `http://127.0.0.1:${port}/x`;
    const { stdout } = await promisify(execFile)('curl', ['-sS', '-X', 'LIST', address, address]);
    expect(stdout).toBe('done;done;');
    expect(verbs()).toEqual(['LIST', 'LIST']);
  });

  test('is accepted after an upgrade offer that the server ignores', async () => {
    const raw = await openRaw(port);
    raw.send(list.replace(host, `${host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n`));
    await raw.received(responses(1));
    raw.send(list);
    await raw.received(responses(2));
    expect(verbs()).toEqual(['LIST', 'LIST']);
    raw.socket.destroy();
  });

  test('is not changed in the protocol that follows an upgrade', async () => {
    server.on('upgrade', (_req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      socket.pipe(socket);
    });
    const raw = await openRaw(port);
    raw.send(get.replace(host, `${host}Connection: Upgrade\r\nUpgrade: echo\r\n`));
    await raw.received(/101 /);
    raw.send(list);
    expect(await raw.received(/\/x/)).toMatch(/\r\n\r\nLIST \/x/);
    raw.socket.destroy();
  });

  test('is subject to backpressure: unread responses pause the pipeline, and none is lost', async () => {
    server.removeAllListeners('request').on('request', (req, res) => {
      seen.push({ verb: operationOf(req), body: '' });
      res.end('x'.repeat(100_000));
    });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const raw = await openRaw(port);
    const [serverSide] = await accepted;
    raw.socket.pause();
    const requests = 200;
    const paused = once(serverSide, 'pause');
    raw.send(list.replace(host, `${host}X: ${'x'.repeat(4_000)}\r\n`).repeat(requests));
    await paused;
    expect(seen.length).toBeLessThan(requests);
    raw.send(`GET /x HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    raw.socket.resume();
    expect((await raw.closed()).length).toBeGreaterThan(requests * 100_000);
    expect(verbs()).toEqual([...Array(requests).fill('LIST'), 'GET']);
  });
});
