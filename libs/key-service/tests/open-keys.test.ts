import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { decrypt, encrypt, type KeyFile, keyLineText, parseKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { freePorts } from '../../../scripts/free-ports.ts';
import { openKeyServices } from '../src/key-services.ts';
import { openKeys } from '../src/open-keys.ts';
import { startAwsKms, type TestedService } from './documented-services.ts';

let folder: string;
let file: string;
let kms: TestedService;
let closers: (() => unknown)[];
let logs: string[];
let metrics: ReturnType<typeof createMetrics>;
const environment = { ...process.env };

const plain = (id: string) => ({ id, isBound: true, bytes: randomBytes(32) });
const settings = () => ({ KEY_SERVICE_CONTEXT: 'here', AWSKMS_ENDPOINT_URL: kms.server.url });

async function wrappedLine(key: ReturnType<typeof plain>, of = 0): Promise<string> {
  return keyLineText(await openKeyServices(settings()).wrap(`awskms:${kms.keys[of]}`, key));
}

/** Opens the file as a process does. */
function opened(port?: number): Promise<KeyFile> {
  const log = createLogger({ service: 'test', destination: { write: (line) => void logs.push(line) } });
  const started = {
    env: settings(),
    log,
    metrics,
    onStop: (close: () => unknown) => void closers.push(close),
  };
  const server = port === undefined ? {} : { server: { host: '127.0.0.1', port } };
  return openKeys(started, 'the seal keys', { file, pollSeconds: 0.05, onSignal: false, ...server });
}

const isOutdated = async (): Promise<boolean> =>
  /key_file_outdated\{[^}]*keys="seal"[^}]*\} 1/.test(await metrics.text());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'open-keys-'));
  file = join(folder, 'seal.key');
  kms = await startAwsKms();
  Object.assign(process.env, kms.credentials);
  [closers, logs, metrics] = [[], [], createMetrics('test')];
});
afterEach(async () => {
  for (const close of closers) await close();
  await kms.server.stop();
  rmSync(folder, { recursive: true });
  for (const name of Object.keys(kms.credentials)) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

test('a process starts with plain and wrapped keys, and asks for each wrapped one once', async () => {
  const [first, second] = [plain('k2'), plain('k1')];
  writeFileSync(file, `${await wrappedLine(first)}\n${keyLineText(second)}\n`);
  const before = kms.server.requests();
  const keys = await opened();
  expect(keys.keys).toEqual([first, second]);
  await keys.reload();
  expect(kms.server.requests() - before).toBe(1);
});

test('a start waits for the key service, and is not ready meanwhile', async () => {
  const key = plain('k1');
  writeFileSync(file, await wrappedLine(key));
  kms.server.become('denied');
  const [port] = await freePorts(1);
  const opening = opened(port);
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { ready: false, missing: ['a key service for the seal keys'] },
    ]);
  });
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  expect(logs.join('')).toContain('the key k1 could not be wrapped or unwrapped by awskms: access is denied');
  kms.server.become('works');
  expect((await opening).current).toEqual(key);
});

test('a start with a key that is not the one that was wrapped fails at once', async () => {
  writeFileSync(file, (await wrappedLine(plain('k1'))).replace('k1:', 'k2:'));
  await expect(opened()).rejects.toThrow(
    'the key k2 could not be wrapped or unwrapped by awskms: the line was',
  );
});

test('an outage does not stop a process: it keeps its keys, says so, and reads the new one afterwards', async () => {
  const [older, newer] = [plain('k1'), plain('k2')];
  const [olderLine, newerLine] = [await wrappedLine(older), await wrappedLine(newer)];
  writeFileSync(file, olderLine);
  const keys = await opened();
  const sealed = encrypt(keys, 'row', Buffer.from('x'));
  expect(await isOutdated()).toBe(false);
  kms.server.become('unknown key');
  writeFileSync(file, `${newerLine}\n${olderLine}`);
  await eventually(async () => expect(await isOutdated()).toBe(true));
  expect(decrypt(keys, 'row', sealed).toString()).toBe('x');
  expect(keys.current.id).toBe('k1');
  expect(logs.filter((line) => line.includes('unable to reload the seal keys'))).toHaveLength(1);
  kms.server.become('works');
  await eventually(() => expect(keys.current).toEqual(newer));
  expect(await isOutdated()).toBe(false);
  expect(decrypt(keys, 'row', sealed).toString()).toBe('x');
  expect(logs.join('')).not.toContain(newerLine.slice(-30));
});

test('a key goes from plain to wrapped, to another key of the service and back, and data stays as it is', async () => {
  const key = plain('k1');
  writeFileSync(file, keyLineText(key));
  const keys = await opened();
  const sealed = encrypt(keys, 'row', Buffer.from('x'));
  for (const line of [await wrappedLine(key), await wrappedLine(key, 1), keyLineText(key)]) {
    writeFileSync(file, line);
    await keys.reload();
    expect(decrypt(keys, 'row', sealed).toString()).toBe('x');
    expect(decrypt(await opened(), 'row', sealed).toString()).toBe('x');
  }
});

test('another key under a known id is refused, also if it is wrapped', async () => {
  writeFileSync(file, await wrappedLine(plain('k1')));
  const keys = await opened();
  writeFileSync(file, await wrappedLine(plain('k1')));
  await expect(keys.reload()).rejects.toThrow('contains another key under the id k1');
});

test('a key that another process wrote with is there as soon as it is unwrapped', async () => {
  const [older, newer] = [plain('k1'), plain('k2')];
  writeFileSync(file, keyLineText(older));
  const keys = await opened();
  const ring = parseKeyRing(keyLineText(newer), 'test');
  const sealed = encrypt(ring, 'row', Buffer.from('by another process'));
  writeFileSync(file, `${keyLineText(older)}\n${await wrappedLine(newer)}`);
  expect(() => decrypt(keys, 'row', sealed)).toThrow(/k2/);
  await eventually(() => expect(decrypt(keys, 'row', sealed).toString()).toBe('by another process'));
});
