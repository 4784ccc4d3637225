import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '../free-ports.ts';

/** The service that the demo talks to. */
export interface DemoService {
  url: string;
  sandboxUrl: string;
  rootToken: string;
  /** Where its data lies; undefined when it is not ours. */
  dataDir: string | undefined;
  /** Kills it with SIGKILL and starts it again on the same data; undefined when it is not ours to kill. */
  crash: (() => Promise<void>) | undefined;
  stop(): Promise<void>;
}

/** A service that runs already, given by flags. */
export function runningService(flags: {
  url?: string;
  'root-token-file'?: string;
  'sandbox-url'?: string;
}): DemoService {
  const { url, 'root-token-file': file, 'sandbox-url': sandboxUrl } = flags;
  if (url === undefined || file === undefined || sandboxUrl === undefined) {
    throw new Error('--url, --root-token-file and --sandbox-url go together');
  }
  return {
    url,
    sandboxUrl,
    rootToken: readFileSync(file, 'utf8').trim(),
    dataDir: undefined,
    crash: undefined,
    stop: async () => {},
  };
}

/** A service of the demo's own: temporary data, free ports, gone afterwards. */
export async function ownService(): Promise<DemoService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'secrets-demo-'));
  const [port, sandboxPort] = await freePorts(2);
  const env = {
    DATA_DIR: dataDir,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX: 'on',
    LEASE_SECONDS: '5',
  };
  let child = await startStandalone(env);
  return {
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    rootToken: readFileSync(join(dataDir, 'root-token'), 'utf8').trim(),
    dataDir,
    crash: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = await startStandalone(env);
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const startTimeoutMs = 120_000;

/** Resolves when it has printed its `ready` line. */
async function startStandalone(env: Record<string, string>): Promise<ChildProcess> {
  const main = new URL('../../services/standalone/src/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => line.startsWith('ready ') && resolve());
    child.once('exit', (code) => reject(new Error(`the service ended with ${code} before it was ready`)));
    setTimeout(() => reject(new Error('the service was not ready in time')), startTimeoutMs).unref();
  });
  await ready;
  return child;
}
