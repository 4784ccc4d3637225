import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@secrets/testing';
import { freePorts } from '../../scripts/free-ports.ts';
import { startChildServer } from '../../scripts/test-services/child-server.ts';
import { clientFolder } from '../../tests/clients/install/install.ts';
import { type Api, vaultClient } from '../system/api-client.ts';

/** Where OpenBao stores its data: in its own storage, or in a database, of which it keeps two idle connections by default. */
export type Storage = 'raft' | { databaseUrl: string; idleConnections?: number };

/** An initialized and unsealed OpenBao server without audit devices. */
export interface OpenBao {
  url: string;
  pid: number;
  api: Api;
  stop(): Promise<void>;
}

/** Starts the server that is part of the OpenBao command line, with its data in a temporary folder. */
export async function startOpenBao(storage: Storage): Promise<OpenBao> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-openbao-'));
  const [port, clusterPort] = (await freePorts(2)) as [number, number];
  const config = join(folder, 'server.hcl');
  mkdirSync(join(folder, 'data'));
  writeFileSync(config, configuration({ storage, folder, port, clusterPort }), { mode: 0o600 });
  const server = await startChildServer({
    command: join(clientFolder('openbao'), 'bin', 'bao'),
    args: ['server', `-config=${config}`],
    env: { PATH: process.env.PATH, HOME: folder },
    folder,
    port,
    stopSignal: 'SIGKILL', // nothing that it has is kept
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    return { url, pid: server.pid, api: await initialize(url), stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const configuration = ({
  storage,
  folder,
  port,
  clusterPort,
}: Record<'port' | 'clusterPort', number> & { storage: Storage; folder: string }): string => `
${storage === 'raft' ? `storage "raft" { path = "${folder}/data" node_id = "bench" }` : postgresStorage(storage)}
listener "tcp" { address = "127.0.0.1:${port}" tls_disable = true }
api_addr = "http://127.0.0.1:${port}"
cluster_addr = "https://127.0.0.1:${clusterPort}"
disable_mlock = true
log_level = "error"
`;

function postgresStorage({ databaseUrl, idleConnections }: Exclude<Storage, 'raft'>): string {
  const idle = idleConnections === undefined ? '' : ` max_idle_connections = "${idleConnections}"`;
  return `storage "postgresql" { connection_url = "${databaseUrl}?sslmode=disable" max_parallel = "32"${idle} }`;
}

/** Initializes and unseals a server, and returns a client of its root user once it is active. */
async function initialize(url: string): Promise<Api> {
  const anonymous = vaultClient(url, '');
  const { keys_base64, root_token } = await eventually(
    async () =>
      (await anonymous('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })) as {
        keys_base64: [string];
        root_token: string;
      },
    { timeoutMs: 60_000 },
  );
  await anonymous('PUT', 'sys/unseal', { key: keys_base64[0] });
  await eventually(() => anonymous('GET', 'sys/health'), { timeoutMs: 60_000 });
  return vaultClient(url, root_token);
}
