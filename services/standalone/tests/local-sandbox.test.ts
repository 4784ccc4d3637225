import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig } from '@secrets/config';
import { silentLogger } from '@secrets/telemetry';
import { startStandalone } from '../src/app.ts';
import { Env } from '../src/config.ts';
import { sandboxBeside } from '../src/sandbox-beside.ts';
import { startFailure } from '../src/start-failure.ts';

test('the sandbox does not follow the API to another address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'standalone-'));
  const env = readConfig(Env, { DATA_DIR: folder, HOST: 'localhost', PORT: '0', SANDBOX_PORT: '0' });
  const standalone = await startStandalone(env, silentLogger());
  try {
    expect(new URL(standalone.url).hostname).toBe('localhost');
    expect(new URL(standalone.sandbox!.url).hostname).toBe('127.0.0.1');
  } finally {
    await standalone.stop();
    rmSync(folder, { recursive: true });
  }
}, 120_000);

/** Something listens at the port where the sandbox usually is, be it ours or what was there before. */
async function takeUsualPort() {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve()).listen(8300, '127.0.0.1', () => resolve());
  });
  return async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
}

test('a second sandbox on the machine takes a free port; one that was asked for is not changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'standalone-'));
  const leave = await takeUsualPort();
  const beside = (given: Record<string, string>) =>
    sandboxBeside(
      readConfig(Env, { DATA_DIR: folder, ...given }),
      join(folder, `sandbox-${Object.keys(given)}`),
    );
  try {
    const free = await beside({});
    expect(new URL(free!.url).port).not.toBe('8300');
    await free!.stop();
    await expect(beside({ SANDBOX_PORT: '8300' })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(await beside({ SANDBOX: 'off' })).toBeUndefined();
  } finally {
    await leave();
    rmSync(folder, { recursive: true });
  }
}, 120_000);

test('a port that is in use is named, with the variable that changes it', () => {
  const env = readConfig(Env, { PORT: '8200', SANDBOX_PORT: '8300' });
  const inUse = (port: number) =>
    Object.assign(new Error('in use'), { code: 'EADDRINUSE', address: '127.0.0.1', port });
  expect(startFailure(inUse(8200), env)).toMatch(/^127\.0\.0\.1:8200 is in use.* PORT$/);
  expect(startFailure(inUse(8300), env)).toMatch(/:8300 is in use.* SANDBOX_PORT$/);
  expect(startFailure(new Error('else'), env)).toBeUndefined();
});
