import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destinationTypes } from '@secrets/destinations';
import { workerOf } from '@secrets/domain';
import { atExit } from '../../scripts/test-services/at-exit.ts';
import { createKeyFile, endpointsIn } from '../../tests/harness/distributed.ts';
import type { BenchOptions } from '../command-line.ts';
import { type Api, apiClient } from './api-client.ts';
import { type Program, startProgram, stopPrograms } from './program.ts';

export interface ProductOptions extends Pick<BenchOptions, 'servers' | 'profiles'> {
  /** Base URL of the sandbox, if login needs its directory or the worker its store. */
  sandboxUrl?: string;
  /** Starts sync-control and workers. By default, neither runs. */
  sync?: SyncServices;
}

/** Options for the sync services. */
export interface SyncServices {
  /** Number of worker processes of each type; default 1. */
  workers?: number;
  /** The destination types with workers; default cloudA-sm. */
  types?: readonly string[];
  /** Whether accounts have the budget of their type, as in production. By default, the budget limits nothing. */
  hasBudget?: boolean;
}

/** The running product. Each service is a process of its own. */
export interface Product {
  url: string;
  rootToken: string;
  api: Api;
  sealKeyFile: string;
  pids: { gateway: number; login: number; secrets: number };
  /** Every process with the name of its service, in the order of their start. */
  programs: { service: string; program: Program }[];
  stop(): Promise<void>;
}

const unusedUrl = 'http://127.0.0.1:9';

/** Starts login, secrets and the gateway; with `sync`, also sync-control and a worker. */
export async function startProduct({
  servers,
  profiles,
  sandboxUrl,
  sync,
}: ProductOptions): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-product-'));
  const sealKeyFile = createKeyFile(folder, 'seal.key', 'k1:');
  const internalKeyFile = createKeyFile(folder, 'internal.key', '');
  const rootTokenFile = join(folder, 'root-token');
  const environment = {
    DATABASE_URL: servers.databaseUrl,
    AMQP_URL: servers.amqpUrl,
    SEAL_KEY_FILE: sealKeyFile,
    INTERNAL_KEY_FILE: internalKeyFile,
    SECRETS_KEY_FILE: internalKeyFile,
    ROW_KEY_FILE: createKeyFile(folder, 'row.key', 'r1:'),
    ROOT_TOKEN_FILE: rootTokenFile,
    AUDIT_FILE: join(folder, 'audit.log'),
    ...(sandboxUrl === undefined ? {} : endpointsIn(sandboxUrl)),
    ...(sandboxUrl === undefined ? {} : { LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${new URL(sandboxUrl).port}` }),
  };
  const running: Product['programs'] = [];
  const start: StartService = async (service, env = {}, portVariable = 'PORT') => {
    const source = `services/${service}/src/main.ts`;
    const program = await startProgram({ source, env: { ...environment, ...env }, portVariable, profiles });
    running.push({ service, program });
    return program;
  };
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const forget = atExit(removeFolder); // contains keys
  const stop = async () => {
    await stopPrograms(running.map(({ program }) => program).reverse());
    removeFolder();
    forget();
  };
  try {
    const { gateway, login, secrets } = await startServices(start, sync);
    const rootToken = readFileSync(rootTokenFile, 'utf8').trim();
    return {
      url: gateway.url,
      rootToken,
      api: apiClient(gateway.url, rootToken),
      sealKeyFile,
      programs: running,
      pids: { gateway: gateway.pid, login: login.pid, secrets: secrets.pid },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type StartService = (
  service: string,
  env?: Record<string, string>,
  portVariable?: string,
) => Promise<Program>;

/** Starts each service after those whose URL it needs. */
async function startServices(start: StartService, sync: SyncServices | undefined) {
  const login = await start('login');
  const secrets = await start('secrets');
  const inward = { LOGIN_URL: login.url, SECRETS_URL: secrets.url };
  const control = sync && (await startControl(start, inward, sync));
  for (let worker = 0; worker < (sync?.workers ?? 1) && sync; worker += 1)
    for (const type of sync.types ?? ['cloudA-sm']) await start(workerOf(type), inward, 'INTERNAL_PORT');
  const more = { INTERNAL_PORT: '0', LOGIN_RATE_LIMIT: '0' }; // all load comes from one address
  const outward = { ...inward, SYNC_CONTROL_URL: control?.url ?? unusedUrl, ...more };
  const gateway = await start('gateway', outward);
  return { gateway, login, secrets };
}

const startControl = (start: StartService, inward: Record<string, string>, { hasBudget }: SyncServices) =>
  start('sync-control', {
    ...inward,
    ...(hasBudget
      ? {}
      : {
          BUDGETS: Object.keys(destinationTypes)
            .map((type) => `${type}=1000000`)
            .join(','),
        }),
    RECONCILE_SECONDS: '86400', // would look up the secrets of a million seeded associations
  });
