import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@secrets/testing';
import { freePorts } from '../../scripts/free-ports.ts';
import { startChildServer } from '../../scripts/test-services/child-server.ts';
import { type Api, apiClient } from '../system/api-client.ts';

/** Milliseconds from the command until the service is healthy: on an empty folder, and again on its data. */
export interface Ready {
  first: number;
  again: number[];
}

/** `npm start` on temporary data, without the sandbox. */
export interface NpmStart {
  url: string;
  pid: number;
  api: Api;
  ready: Ready;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const restarts = 3;

/** Runs `npm start`, stops it and starts it again a few times, and leaves it running. */
export async function npmStart(directoryUrl: string): Promise<NpmStart> {
  const started = await startRepeatedly('npm', ['--prefix', root, 'start', '--silent'], directoryUrl);
  const { server, url, folder, ready } = started;
  const rootToken = readFileSync(join(folder, 'data', 'root-token'), 'utf8').trim();
  return { url, pid: server.pid, api: apiClient(url, rootToken), ready, stop: server.stop };
}

/** Measures how fast the program of `npm start` is ready when it is started without npm. */
export async function readyWithoutNpm(directoryUrl: string): Promise<Ready> {
  const program = join(root, 'services/standalone/src/main.ts');
  const { server, ready } = await startRepeatedly(process.execPath, [program], directoryUrl);
  await server.stop();
  return ready;
}

async function startRepeatedly(command: string, args: string[], directoryUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-npm-start-'));
  const [port] = (await freePorts(1)) as [number];
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'), // as npm start sets it
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    SANDBOX: 'off',
    CLOUDB_AUTHORITY_URL: directoryUrl,
    LOGIN_RATE_LIMIT: '0', // all load comes from one address
  };
  const began = performance.now();
  const starting = startChildServer({ command, args, env, folder, port, stopSignal: 'SIGTERM' });
  const [server, first] = await Promise.all([starting, healthyAfter(url, began)]);
  const again: number[] = [];
  for (let restart = 0; restart < restarts; restart += 1) {
    let healthy: Promise<number> | undefined;
    await server.restart('SIGTERM', () => {
      healthy = healthyAfter(url, performance.now());
    });
    again.push(await healthy!);
  }
  return { server, url, folder, ready: { first, again } };
}

/** Resolves when the service is healthy, with the milliseconds since `began`. */
async function healthyAfter(url: string, began: number): Promise<number> {
  const isHealthy = async () => (await fetch(`${url}/v1/sys/health`)).status === 200;
  await eventually(isHealthy, { timeoutMs: 120_000, intervalMs: 5 });
  return performance.now() - began;
}
