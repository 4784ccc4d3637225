import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/free-ports.ts';
import { workers } from '../../services/setup/src/database-roles.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = 'secrets-service-test';

/** The services of the stack that are built from this repository and keep running. */
export const services = ['gateway', 'login', 'secrets', 'sync-control', ...workers, 'sandbox'];

/** The stack of docker-compose.yml with its sandbox, under a project name and ports of its own. */
export interface Stack {
  url: string;
  sandboxUrl: string;
  prometheusUrl: string;
  grafanaUrl: string;
  /** Runs `docker compose` with its output on this terminal. Throws if it fails. */
  compose(...args: string[]): Promise<void>;
  /** Runs `docker compose` and returns its output. Throws if it fails. */
  ask(...args: string[]): Promise<string>;
  /**
   * Starts these services and those they need, with as many containers as `scales` says (`login=2`), and waits until
   * they are healthy.
   */
  up(names: readonly string[], scales?: readonly string[]): Promise<void>;
  /** IDs of the containers of these services, or of all, also of those that have ended. */
  containers(...names: string[]): Promise<string[]>;
  /** The names of the running containers of a service, by each of their addresses. */
  addresses(service: string): Promise<ReadonlyMap<string, string>>;
  /** The memory that each container uses, as text. */
  memory(): Promise<string>;
  rootToken(): Promise<string>;
  /** Runs the demo against the stack. Throws, with its output, if it fails. */
  demo(): Promise<void>;
  /** The same containers, volumes and ports, with these variables. `up` applies them. */
  with(variables: Record<string, string>): Stack;
  /** The same containers, volumes and ports, as the files of another folder describe them. */
  in(folder: string): Stack;
  /** Removes everything, including volumes. */
  remove(): Promise<void>;
}

/** The stack of this repository. Nothing is built or started yet. */
export async function openStack(): Promise<Stack> {
  const names = ['GATEWAY_BIND', 'SANDBOX_BIND', 'PROMETHEUS_BIND', 'GRAFANA_BIND'] as const;
  const ports = await freePorts(names.length);
  const binds = Object.fromEntries(names.map((name, at) => [name, `127.0.0.1:${ports[at]}`]));
  return stackIn(root, binds as Record<(typeof names)[number], string>);
}

function stackIn(
  folder: string,
  binds: Record<`${string}_BIND`, string>,
  variables: Record<string, string> = {},
): Stack {
  const env = { ...process.env, ...binds, LEASE_SECONDS: '10', ...variables };
  const isSecure = variables.INTERNAL_TLS !== undefined;
  const prefix = ['compose', '-p', project, '--env-file', 'sandbox.env', '--progress', 'quiet'];
  const compose = async (...args: string[]) =>
    void (await run('docker', [...prefix, ...args], { cwd: folder, env, isShown: true }));
  const ask = (...args: string[]) => run('docker', [...prefix, ...args], { cwd: folder, env });
  const ids = async (args: string[]) => (await ask('ps', '--quiet', ...args)).split('\n').filter(Boolean);
  const stack: Stack = {
    url: `http${isSecure ? 's' : ''}://${binds.GATEWAY_BIND}`,
    sandboxUrl: `http://${binds.SANDBOX_BIND}`,
    prometheusUrl: `http://${binds.PROMETHEUS_BIND}`,
    grafanaUrl: `http://${binds.GRAFANA_BIND}`,
    compose,
    ask,
    up: (names, scales = []) =>
      compose('up', '-d', '--no-build', '--wait', ...scales.flatMap((one) => ['--scale', one]), ...names),
    containers: (...names) => ids(['--all', ...names]),
    addresses: async (service) => {
      const addresses = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{$.Name}}\n{{end}}';
      const text = await docker('inspect', '--format', addresses, ...(await ids([service])));
      return new Map([...text.matchAll(/(\S+) \/(\S+)/g)].map(([, address, name]) => [address!, name!]));
    },
    memory: async () => {
      const format = '{{.Name}}\t{{.MemUsage}}';
      return (await docker('stats', '--no-stream', '--format', format, ...(await ids([])))).trim();
    },
    rootToken: async () => (await ask('exec', '-T', 'login', 'cat', '/run/keys/root-token')).trim(),
    demo: () => demo(stack, isSecure),
    with: (more) => stackIn(folder, binds, { ...variables, ...more }),
    in: (other) => stackIn(other, binds, variables),
    // Every profile: without it, the containers of the others would stay.
    remove: () => compose('--profile', '*', 'down', '--volumes', '--timeout', '5'),
  };
  return stack;
}

/** Runs `docker` and returns its output. Throws if it fails. */
export const docker = (...args: string[]): Promise<string> => run('docker', args);

async function demo({ url, sandboxUrl, rootToken, ask }: Stack, isSecure: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
  try {
    const tokenFile = join(folder, 'root-token');
    writeFileSync(tokenFile, await rootToken(), { mode: 0o600 });
    const args = ['--url', url, '--root-token-file', tokenFile, '--sandbox-url', sandboxUrl];
    const authority = join(folder, 'ca.crt');
    if (isSecure) writeFileSync(authority, await ask('exec', '-T', 'gateway', 'cat', '/run/keys/ca.crt'));
    const env = { ...process.env, ...(isSecure ? { NODE_EXTRA_CA_CERTS: authority } : {}) };
    await run(process.execPath, ['scripts/demo.ts', ...args], { cwd: root, env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Whether the output is shown on this terminal instead of being returned. */
  isShown?: boolean;
}

/** Runs a program and returns its output. Throws, with the output, if it fails. */
function run(
  command: string,
  args: string[],
  { cwd, env, isShown = false }: RunOptions = {},
): Promise<string> {
  const shown = isShown ? 'inherit' : 'pipe';
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', shown, shown] });
  const [output, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const text = Buffer.concat(output).toString();
      if (code === 0) return resolve(text);
      const all = `${text}${Buffer.concat(errors).toString()}`;
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}\n${all}`));
    });
  });
}
