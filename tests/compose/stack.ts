import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/free-ports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = 'secrets-service-test';

/** The stack of docker-compose.yml with its sandbox, under a project name and ports of its own. */
export interface Stack {
  /** Runs `docker compose` with its output on this terminal. Throws if it fails. */
  compose(...args: string[]): void;
  /** Runs `docker compose` and returns its output. Throws if it fails. */
  ask(...args: string[]): string;
  /** Runs the demo against the stack. Throws, with its output, if it fails. */
  demo(): void;
  /** Removes everything, including volumes. */
  remove(): void;
}

export async function openStack(): Promise<Stack> {
  const [port, sandboxPort] = await freePorts(2);
  const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
  const env = {
    ...process.env,
    GATEWAY_BIND: `127.0.0.1:${port}`,
    SANDBOX_BIND: `127.0.0.1:${sandboxPort}`,
    LEASE_SECONDS: '10',
  };
  const prefix = ['compose', '-p', project, '--env-file', 'sandbox.env', '--progress', 'quiet'];
  const ask = (...args: string[]) =>
    execFileSync('docker', [...prefix, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  return {
    ask,
    compose: (...args) =>
      void execFileSync('docker', [...prefix, ...args], { cwd: root, env, stdio: 'inherit' }),
    demo: () => {
      const tokenFile = join(folder, 'root-token');
      writeFileSync(tokenFile, ask('exec', '-T', 'login', 'cat', '/run/keys/root-token'), { mode: 0o600 });
      const args = ['--url', `http://127.0.0.1:${port}`, '--root-token-file', tokenFile];
      args.push('--sandbox-url', `http://127.0.0.1:${sandboxPort}`);
      const demo = spawnSync(process.execPath, ['scripts/demo.ts', ...args], { cwd: root, encoding: 'utf8' });
      if (demo.status !== 0) throw new Error(`the demo failed:\n${demo.stdout}${demo.stderr}`);
    },
    remove: () => {
      spawnSync('docker', [...prefix, 'down', '--volumes', '--timeout', '5'], {
        cwd: root,
        env,
        stdio: 'inherit',
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
