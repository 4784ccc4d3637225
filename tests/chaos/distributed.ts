import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../../scripts/demo/http.ts';
import { freePorts } from '../../scripts/free-ports.ts';
import { embeddedPostgres } from '../../scripts/test-services/embedded-postgres.ts';
import { installedRabbit } from '../../scripts/test-services/installed-rabbit.ts';
import type { TestServer } from '../../scripts/test-services/test-server.ts';
import { ServiceProcess } from './service-process.ts';

/** A server of the installation's own, which a test may end and start again. */
export type OwnServer = TestServer & Required<Pick<TestServer, 'restart'>>;

/** The distributed system, each service a process: two workers, two sync-controls, of the others one. */
export interface Distributed {
  url: string;
  sandboxUrl: string;
  rootToken: string;
  /** Keys, logs and the audit of this installation. */
  folder: string;
  postgres: OwnServer;
  rabbit: OwnServer;
  processes: Record<ProcessName, ServiceProcess>;
  stop(): Promise<void>;
}

const processNames = [
  'sandbox',
  'login',
  'secrets',
  'sync-control',
  'sync-control-2',
  'worker',
  'worker-2',
  'gateway',
] as const;
export type ProcessName = (typeof processNames)[number];

/** The servers, or why they cannot be had here: those that the tests end have to be their own. */
export async function ownServers(): Promise<{ postgres: OwnServer; rabbit: OwnServer } | string> {
  const servers = await Promise.all([embeddedPostgres({ durable: false }), installedRabbit()]);
  const reasons = servers.filter((server) => typeof server === 'string');
  const [postgres, rabbit] = servers.filter((server): server is OwnServer => typeof server !== 'string');
  if (postgres !== undefined && rabbit !== undefined) return { postgres, rabbit };
  await postgres?.stop();
  return reasons.join('; ');
}

/** Starts everything on the given servers, with fresh keys and ports, and resolves when all are ready. */
export async function startDistributed(servers: {
  postgres: OwnServer;
  rabbit: OwnServer;
}): Promise<Distributed> {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  const processes = processesOf(folder, servers, await freePorts(9));
  const all = Object.values(processes);
  const stop = async () => {
    await Promise.all(all.map((process) => process.kill()));
    await Promise.all([servers.postgres.stop(), servers.rabbit.stop()]);
    if (process.env.CHAOS_KEEP_LOGS === undefined) rmSync(folder, { recursive: true, force: true });
    else console.log(`the logs of the processes are in ${folder}`);
  };
  try {
    await Promise.all(all.map((process) => process.start()));
    const { gateway, sandbox } = processes;
    return {
      url: new URL(gateway.url).origin,
      sandboxUrl: new URL(sandbox.url).origin,
      rootToken: readFileSync(join(folder, 'root-token'), 'utf8').trim(),
      folder,
      ...servers,
      processes,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Processes = Record<ProcessName, ServiceProcess>;

function processesOf(
  folder: string,
  servers: { postgres: OwnServer; rabbit: OwnServer },
  ports: number[],
): Processes {
  const [publicPort, ...rest] = ports as [number, ...number[]];
  const portOf = Object.fromEntries(processNames.map((name, index) => [name, rest[index]!]));
  const at = (name: ProcessName) => `http://127.0.0.1:${portOf[name]}`;
  const shared = {
    DATABASE_URL: servers.postgres.url,
    AMQP_URL: servers.rabbit.url,
    SEAL_KEY_FILE: keyFile(folder, 'seal.key', 'k1:'),
    INTERNAL_KEY_FILE: keyFile(folder, 'internal.key', ''),
    NODE_COMPILE_CACHE: join(tmpdir(), 'chaos-compile-cache'),
    LEASE_SECONDS: '5',
    SWEEP_SECONDS: '1',
    LOST_SWEEP_SECONDS: '1',
    LOST_AFTER_SECONDS: '5',
  };
  const own: Record<ProcessName, [source: string, env: Record<string, string>]> = {
    sandbox: ['services/sandbox', { DATA_FILE: join(folder, 'sandbox.jsonl') }],
    login: ['services/login', { ROOT_TOKEN_FILE: join(folder, 'root-token') }],
    secrets: ['services/secrets', {}],
    'sync-control': ['services/sync-control', { SECRETS_URL: at('secrets') }],
    'sync-control-2': ['services/sync-control', { SECRETS_URL: at('secrets') }],
    worker: ['services/sync-worker-clouda-sm', workerEnv(at('sandbox'))],
    'worker-2': ['services/sync-worker-clouda-sm', workerEnv(at('sandbox'))],
    gateway: [
      'services/gateway',
      {
        AUDIT_FILE: join(folder, 'audit.log'),
        LOGIN_URL: at('login'),
        SECRETS_URL: at('secrets'),
        SYNC_CONTROL_URL: at('sync-control'),
      },
    ],
  };
  const made = processNames.map((name) => {
    const [source, env] = own[name];
    const port = String(portOf[name]);
    const ports =
      name === 'gateway'
        ? { PORT: String(publicPort), INTERNAL_PORT: port }
        : { PORT: port, INTERNAL_PORT: port };
    const readyPath = name === 'sandbox' ? '_sandbox/about' : 'readyz';
    return new ServiceProcess({
      name,
      source: `${source}/src/main.ts`,
      env: { ...shared, ...env, ...ports },
      url: name === 'gateway' ? `http://127.0.0.1:${publicPort}` : at(name),
      readyUrl: `${at(name)}/${readyPath}`,
      logFolder: folder,
    });
  });
  return Object.fromEntries(made.map((process) => [process.name, process])) as Processes;
}

const workerEnv = (sandboxUrl: string) => ({
  CLOUDA_ENDPOINT_URL: `${sandboxUrl}/clouda`,
});

function keyFile(folder: string, name: string, prefix: string): string {
  const file = join(folder, name);
  writeFileSync(file, `${prefix}${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  return file;
}

/** Orders of the sandbox. */
export const sandboxOf = ({ sandboxUrl }: Distributed) => ({
  fault: async (spec: object): Promise<void> => {
    const { status, body } = await send(`${sandboxUrl}/_sandbox/faults`, 'POST', undefined, {
      store: 'cloudA-sm',
      ...spec,
    });
    if (status >= 300) throw new Error(`the fault was not taken: ${JSON.stringify(body)}`);
  },
  clearFaults: async (): Promise<void> => void (await send(`${sandboxUrl}/_sandbox/faults`, 'DELETE')),
  /** Calls that the store has taken so far. */
  calls: async (): Promise<number> =>
    (await send(`${sandboxUrl}/_sandbox/calls?store=cloudA-sm`, 'GET')).body.calls.length,
  /** What the store holds, by name. */
  outside: async (): Promise<Map<string, { value: string; version_count: number }>> => {
    const { body } = await send(`${sandboxUrl}/_sandbox/stores?store=cloudA-sm`, 'GET');
    const held: { name: string; value: string; version_count: number; deleted_at: string | null }[] =
      body.stores['cloudA-sm'].secrets;
    return new Map(held.filter(({ deleted_at }) => !deleted_at).map((secret) => [secret.name, secret]));
  },
  /** The credentials of its store. */
  credentials: async (): Promise<{ accessKeyId: string; secretAccessKey: string }> =>
    (await send(`${sandboxUrl}/_sandbox/about`, 'GET')).body.stores['cloudA-sm'].credentials,
});
