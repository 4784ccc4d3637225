import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig } from '@secrets/config';
import { silentLogger } from '@secrets/telemetry';
import { startStandalone } from '../src/app.ts';
import { Env } from '../src/config.ts';

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
