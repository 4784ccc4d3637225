import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { freePorts } from '../../scripts/free-ports.ts';
import { embeddedPostgres } from '../../scripts/test-services/embedded-postgres.ts';
import { installedRabbit } from '../../scripts/test-services/installed-rabbit.ts';
import { type PostgresPair, postgresPair } from '../../scripts/test-services/postgres-pair.ts';
import type { TestServer } from '../../scripts/test-services/test-server.ts';
import { workers } from '../../services/setup/src/database-roles.ts';
import { bundleEnv, mainOf } from './program.ts';
import { ServiceProcess } from './service-process.ts';

/** A server that belongs to one system, so that a test may end it and start it again. */
type OwnServer = TestServer & Required<Pick<TestServer, 'restart'>>;

interface OwnServers {
  /** `pair` is absent if there is only one server. */
  postgres: OwnServer & Partial<Pick<PostgresPair, 'pair' | 'failOver'>>;
  rabbit: OwnServer;
}

/** The distributed system with one process per service, two for sync-control, and three workers. */
export interface Distributed extends OwnServers {
  url: string;
  sandboxUrl: string;
  rootToken: string;
  /** Holds keys, logs and the audit file. */
  folder: string;
  processes: Processes;
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
  'worker-3',
  'gateway',
] as const;
export type ProcessName = (typeof processNames)[number];

/** The second replicas of the services that have only one otherwise; started on request. */
const secondReplicas = ['gateway-2', 'login-2', 'secrets-2'] as const;
type SecondReplica = (typeof secondReplicas)[number];

/** The other workers, two of each type; started on request. */
export const otherWorkerNames = workers
  .filter((name) => name !== 'sync-worker-clouda-sm')
  .flatMap((name) => [name, `${name}-2`] as const);
type OtherWorker = (typeof otherWorkerNames)[number];

type Name = ProcessName | SecondReplica | OtherWorker;

type Processes = Record<ProcessName, ServiceProcess> &
  Partial<Record<SecondReplica | OtherWorker, ServiceProcess>>;

/**
 * Starts Postgres and RabbitMQ for one system. Returns the reason if this machine cannot. Postgres is durable: what it
 * acknowledged must survive its SIGKILL.
 */
export async function ownServers({
  withStandby,
  keysFolder,
}: DistributedOptions = {}): Promise<OwnServers | string> {
  const certificates = (server: string) => keysFolder && join(keysFolder, server);
  const startPostgres = () =>
    withStandby === undefined
      ? embeddedPostgres({ durable: true, certificates: certificates('postgres') })
      : postgresPair(withStandby === 'synchronous');
  const servers = await Promise.all([
    startPostgres(),
    installedRabbit({ certificates: certificates('rabbitmq') }),
  ]);
  const reasons = servers.filter((server) => typeof server === 'string');
  const [postgres, rabbit] = servers.filter((server): server is OwnServer => typeof server !== 'string');
  if (postgres !== undefined && rabbit !== undefined) return { postgres, rabbit };
  await postgres?.stop();
  return reasons.join('; ');
}

export interface DistributedOptions {
  /** Settings of all processes, in addition to the usual ones. */
  env?: Record<string, string>;
  /** Whether to start workers for every destination type. */
  everyType?: boolean;
  /** Whether gateway, login and secrets run twice, like sync-control. */
  inPairs?: boolean;
  /** How the standby of Postgres, which can be promoted, gets the commits; by default there is none. */
  withStandby?: 'synchronous' | 'asynchronous' | undefined;
  /**
   * A folder with one folder per service, with its certificate, as `setup keys` creates it: everything is then reached over
   * TLS.
   */
  keysFolder?: string | undefined;
  /** The folder whose `services` are run; default: this repository. */
  sourceRoot?: string;
  /** Returns the environment that a process gets in place of this one, such as with the URLs of proxies. */
  route?: (name: string, env: Record<string, string>) => Promise<Record<string, string>>;
}

/** Starts every service on these servers, with new keys and ports. Resolves when all are ready. */
export async function startDistributed(
  servers: OwnServers,
  options: DistributedOptions = {},
): Promise<Distributed> {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
  const names = namesIn(options);
  const planned = planProcesses(
    { folder, servers, names, ports: await freePorts(2 * names.length + 2) },
    options,
  );
  const processes = await createProcesses(planned, folder, options);
  const all = Object.values(processes);
  const stop = async () => {
    await Promise.all(all.map((process) => process.kill()));
    await Promise.all([servers.postgres.stop(), servers.rabbit.stop()]);
    if (process.env.CHAOS_KEEP_LOGS === undefined) rmSync(folder, { recursive: true, force: true });
    else console.log(`the logs of the processes are in ${folder}`);
  };
  try {
    await Promise.all(all.map((process) => process.start()));
    const rootToken = readFileSync(join(folder, 'root-token'), 'utf8').trim();
    const { gateway, sandbox } = processes;
    return { url: gateway.url, sandboxUrl: sandbox.url, rootToken, folder, ...servers, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const namesIn = ({ everyType = false, inPairs = false }: DistributedOptions): Name[] => [
  ...processNames,
  ...(inPairs ? secondReplicas : []),
  ...(everyType ? otherWorkerNames : []),
];

interface Placement {
  folder: string;
  servers: OwnServers;
  names: readonly Name[];
  ports: number[];
}

/** A process that is to be created. */
interface PlannedProcess {
  name: Name;
  /** The folder in `services`. */
  source: string;
  env: Record<string, string>;
  url: string;
  readyUrl: string;
}

function planProcesses(
  { folder, servers, names, ports }: Placement,
  { env: extra = {}, sourceRoot, keysFolder }: DistributedOptions,
): PlannedProcess[] {
  const shared = { ...sharedEnv(folder, servers, sourceRoot), ...extra };
  const publicPorts: Partial<Record<Name, number>> = { gateway: ports[0]!, 'gateway-2': ports[1]! };
  const portOf = (name: Name) => ports[2 + names.indexOf(name)]!;
  const isSecure = (name: Name) => keysFolder !== undefined && name !== 'sandbox';
  /** Where operators ask a service that serves others over TLS. */
  const operatorsPortOf = (name: Name) => ports[2 + names.length + names.indexOf(name)]!;
  const internalUrl = (name: Name) => `http${isSecure(name) ? 's' : ''}://127.0.0.1:${portOf(name)}`;
  /** The URLs of all replicas that are started. */
  const urlsOf = (name: ProcessName) =>
    names.filter((one) => one === name || one === `${name}-2`).map(internalUrl);
  return names.map((name) => {
    const { source, env } = program(name, folder, (of) => urlsOf(of).join());
    const port = publicPorts[name] ?? portOf(name);
    const hasOnePort = /^(login|secrets|sync-control)(-2)?$/.test(name) && !isSecure(name);
    const operatorsPort = isSecure(name) ? operatorsPortOf(name) : portOf(name);
    const own = {
      PORT: String(port),
      ...(hasOnePort ? {} : { INTERNAL_PORT: String(operatorsPort) }),
      ...(isSecure(name) ? certificateEnv(join(keysFolder!, source)) : {}),
    };
    return {
      name,
      source,
      env: { ...shared, ...env, ...own },
      url: `http${isSecure(name) ? 's' : ''}://127.0.0.1:${port}`,
      readyUrl: `http://127.0.0.1:${operatorsPort}/${name === 'sandbox' ? '_sandbox/about' : 'readyz'}`,
    };
  });
}

/** A worker that calls no service has no certificate. */
const certificateEnv = (folder: string): Record<string, string> =>
  existsSync(join(folder, 'tls.crt')) ? { INTERNAL_TLS_DIR: folder } : {};

async function createProcesses(
  planned: readonly PlannedProcess[],
  logFolder: string,
  { sourceRoot, route = async (_, env) => env }: DistributedOptions,
): Promise<Processes> {
  const created = planned.map(async ({ name, source, env, ...urls }) => {
    // The witness is always this version.
    const isOurs = sourceRoot === undefined || name === 'sandbox';
    const main = isOurs ? mainOf(source) : join(sourceRoot, 'services', source, 'src/main.ts');
    const process = new ServiceProcess({
      name,
      source: main,
      env: await route(name, env),
      ...urls,
      logFolder,
    });
    return [name, process] as const;
  });
  return Object.fromEntries(await Promise.all(created)) as Processes;
}

const sharedEnv = (folder: string, { postgres, rabbit }: OwnServers, sourceRoot: string | undefined) => ({
  DRAIN_SECONDS: '0',
  DATABASE_URL: postgres.url,
  AMQP_URL: rabbit.url,
  SEAL_KEY_FILE: createKeyFile(folder, 'seal.key', 'k1:'),
  INTERNAL_KEY_FILE: createKeyFile(folder, 'internal.key', ''),
  // An earlier version stores rows without hashes, which an upgrade must accept.
  ROW_KEY_FILE: createKeyFile(folder, 'row.key', 'r1:', sourceRoot === undefined ? ' bound' : ''),
  NODE_COMPILE_CACHE: join(tmpdir(), 'chaos-compile-cache'),
  ...bundleEnv,
  LEASE_SECONDS: '5',
  SWEEP_SECONDS: '1',
  LOST_SWEEP_SECONDS: '1',
  LOST_AFTER_SECONDS: '5',
});

/** Writes a new key, and returns the path of its file. */
export function createKeyFile(folder: string, name: string, prefix: string, suffix = ''): string {
  const file = join(folder, name);
  writeFileSync(file, `${prefix}${randomBytes(32).toString('base64')}${suffix}\n`, { mode: 0o600 });
  return file;
}

/** The environment that points services to a sandbox, from `sandbox.env`. Each worker, and login, reads its own. */
export const endpointsIn = (sandboxUrl: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parseEnv(readFileSync('sandbox.env', 'utf8')))
      .filter(([name]) => name.endsWith('_URL'))
      .map(([name, url]) => [name, url!.replace('http://sandbox:8300', sandboxUrl)]),
  );

/** The service of a process and the environment that only this process gets. */
function program(
  name: Name,
  folder: string,
  urlOf: (name: ProcessName) => string,
): { source: string; env: Record<string, string> } {
  const SECRETS_URL = urlOf('secrets');
  const workerEnv = {
    ...endpointsIn(urlOf('sandbox')),
    LOGIN_URL: urlOf('login'),
    SECRETS_URL,
    SECRETS_KEY_FILE: join(folder, 'internal.key'),
  };
  switch (name) {
    case 'sandbox':
      return { source: 'sandbox', env: { DATA_FILE: join(folder, 'sandbox.jsonl') } };
    case 'login':
    case 'login-2':
      return {
        source: 'login',
        env: { ROOT_TOKEN_FILE: join(folder, 'root-token'), ...endpointsIn(urlOf('sandbox')) },
      };
    case 'secrets':
    case 'secrets-2':
      return { source: 'secrets', env: {} };
    case 'sync-control':
    case 'sync-control-2':
      return { source: 'sync-control', env: { SECRETS_URL } };
    case 'worker':
    case 'worker-2':
    case 'worker-3':
      return { source: 'sync-worker-clouda-sm', env: workerEnv };
    case 'gateway':
    case 'gateway-2': {
      const upstreams = { LOGIN_URL: urlOf('login'), SECRETS_URL, SYNC_CONTROL_URL: urlOf('sync-control') };
      return {
        source: 'gateway',
        env: { AUDIT_FILE: join(folder, name === 'gateway' ? 'audit.log' : 'audit-2.log'), ...upstreams },
      };
    }
    default:
      return { source: name.replace(/-2$/, ''), env: workerEnv };
  }
}
