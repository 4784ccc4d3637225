import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type RunningServer, startServer } from '@secrets/http';
import { createLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { selfSignedFiles } from '../../http/tests/self-signed.ts';
import { reloadFiles } from './reload-files.ts';

type SelfSigned = Awaited<ReturnType<typeof selfSignedFiles>>;

let folder: string;
let server: RunningServer;
let logs: string[];
let first: SelfSigned;
let closers: (() => unknown)[];

/**
 * Replaces the files as an orchestrator does: a new folder, and a symbolic link that is renamed over the one to the old folder.
 */
function mount(version: string, files: Record<string, string>): void {
  mkdirSync(join(folder, version));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, version, name), content);
  symlinkSync(version, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mounted-'));
  logs = [];
  closers = [];
  first = await selfSignedFiles();
  mount('1', { 'tls.crt': first.cert, 'tls.key': first.key });
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  for (const file of ['tls.crt', 'tls.key']) symlinkSync(join('..data', file), join(folder, file));
  server = await startServer((_request, response) => response.end('fine'), {
    host: '127.0.0.1',
    port: 0,
    tls,
  });
  const log = createLogger({ service: 'gateway', destination: { write: (line) => void logs.push(line) } });
  reloadFiles(
    { log, onStop: (close) => void closers.push(close) },
    {
      what: 'the TLS files',
      files: [tls.certFile, tls.keyFile],
      reload: server.reloadTls,
      onSignal: false,
      pollSeconds: 0.05,
    },
  );
});
afterEach(async () => {
  for (const close of closers) await close();
  await server.stop(0);
  rmSync(folder, { recursive: true });
});

async function presented(): Promise<string> {
  const socket: TLSSocket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const pem = socket.getPeerX509Certificate()?.toString() ?? '';
  socket.destroy();
  return pem.trim();
}

const errors = () => logs.filter((line) => line.includes('"level":"error"'));

test('a certificate that replaces the mounted one is served, and open connections go on', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const portOf = async () => {
    const [response] = await once(get(server.url, { agent }), 'response');
    const port = response.socket.localPort;
    await once(response.resume(), 'end');
    return port;
  };
  const before = await portOf();
  expect(await presented()).toBe(first.cert.trim());
  const second = await selfSignedFiles();
  mount('2', { 'tls.crt': second.cert, 'tls.key': second.key });
  await eventually(async () => expect(await presented()).toBe(second.cert.trim()));
  expect(await portOf()).toBe(before);
  expect(errors()).toEqual([]);
  agent.destroy();
});

test.each([
  ['is not a certificate', { 'tls.crt': 'not a certificate' }],
  ['does not match the key', {}],
  ['is missing', { 'tls.crt': undefined }],
])(
  'if the certificate %s, the one of before stays, one error is logged, and the next change is used',
  async (_case, broken) => {
    const second = await selfSignedFiles();
    const files = { 'tls.crt': second.cert, 'tls.key': first.key, ...broken };
    mount(
      '2',
      Object.fromEntries(Object.entries(files).filter(([, content]) => content !== undefined)) as never,
    );
    await eventually(async () => expect(errors()).toHaveLength(1));
    expect(await presented()).toBe(first.cert.trim());
    mount('3', { 'tls.crt': second.cert, 'tls.key': second.key });
    await eventually(async () => expect(await presented()).toBe(second.cert.trim()));
    expect(errors()).toHaveLength(1);
  },
);
