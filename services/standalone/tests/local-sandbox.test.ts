import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig } from '@secrets/config';
import { errorCode } from '@secrets/domain';
import { Env } from '../src/config.ts';
import { startLocalSandbox } from '../src/local-sandbox.ts';
import { startFailure } from '../src/operator-messages.ts';
import { startStandaloneForTest, withFolder } from './standalone-for-test.ts';

test(
  'the sandbox listens on its own address, whatever the address of the API',
  () =>
    withFolder(async (folder) => {
      const standalone = await startStandaloneForTest({ DATA_DIR: folder, HOST: 'localhost' });
      try {
        expect(new URL(standalone.url).hostname).toBe('localhost');
        expect(new URL(standalone.sandbox!.url).hostname).toBe('127.0.0.1');
      } finally {
        await standalone.stop();
      }
    }),
  120_000,
);

/** Makes sure that the default port is in use, by this process or by another one. */
async function occupyDefaultPort(): Promise<Server> {
  const server = createServer().listen(8300, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
  });
  return server;
}

const startWith = (folder: string, env: Record<string, string> = {}) =>
  startLocalSandbox(readConfig(Env, env), join(folder, 'sandbox.jsonl'));

test(
  'the sandbox selects a free port if the default one is in use, but never replaces SANDBOX_PORT',
  () =>
    withFolder(async (folder) => {
      const occupied = await occupyDefaultPort();
      try {
        const sandbox = await startWith(folder);
        expect(new URL(sandbox!.url).port).not.toBe('8300');
        await sandbox!.stop();
        await expect(startWith(folder, { SANDBOX_PORT: '8300' })).rejects.toMatchObject({
          code: 'EADDRINUSE',
        });
      } finally {
        occupied.close();
      }
    }),
  120_000,
);

test('SANDBOX=off starts no sandbox', () =>
  withFolder(async (folder) => expect(await startWith(folder, { SANDBOX: 'off' })).toBeUndefined()));

test('the message about a port in use names the port and its variable', () => {
  const env = readConfig(Env, { PORT: '8200', SANDBOX_PORT: '8300' });
  const inUse = (port: number) =>
    Object.assign(new Error('in use'), { code: 'EADDRINUSE', address: '127.0.0.1', port });
  expect(startFailure(inUse(8200), env)).toMatch(/^127\.0\.0\.1:8200 is in use.* PORT to another port$/);
  expect(startFailure(inUse(8300), env)).toMatch(/:8300 is in use.* SANDBOX_PORT to another port$/);
  expect(startFailure(new Error('another error'), env)).toBeUndefined();
});
