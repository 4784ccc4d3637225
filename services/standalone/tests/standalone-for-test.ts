import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@secrets/config';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { type Standalone, startStandalone } from '../src/app.ts';
import { Env } from '../src/config.ts';

/** Starts a standalone installation on free ports. */
export const startStandaloneForTest = (env: Record<string, string>): Promise<Standalone> =>
  startStandalone(
    readConfig(Env, { PORT: '0', SANDBOX_PORT: '0', INTERNAL_PORT: '0', ...env }),
    silentLogger(),
    createMetrics('standalone', { processMetrics: false }),
  );

/** Calls `use` with a temporary folder and removes it afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'standalone-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
