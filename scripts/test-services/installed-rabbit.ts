import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { startChildServer } from './child-server.ts';
import type { TestServer } from './test-server.ts';

/** Debian's folder first: the wrapper on the path changes the user and applies the machine's settings. */
const knownFolders = ['/usr/lib/rabbitmq/bin', '/opt/homebrew/sbin', '/usr/local/sbin'];

interface Ports {
  port: number;
  distPort: number;
  epmdPort: number;
  /** For the management API, if it is enabled. */
  managementPort: number | undefined;
}

/** Starts a RabbitMQ node of this machine's installation on free ports of 127.0.0.1. It shares nothing with other nodes. */
export async function installedRabbit({ management = false } = {}): Promise<TestServer | string> {
  const folders = [...knownFolders, ...(process.env.PATH ?? '').split(delimiter)];
  const bin = folders.find((folder) => existsSync(join(folder, 'rabbitmq-server')));
  if (bin === undefined) return 'RabbitMQ is not installed';
  const folder = mkdtempSync(join(tmpdir(), 'test-rabbitmq-'));
  const [port, distPort, epmdPort, freePort] = (await freePorts(4)) as [number, number, number, number];
  const managementPort = management ? freePort : undefined;
  const env = environment(folder, { port, distPort, epmdPort, managementPort });
  const stopEpmd = () => {
    // The node started epmd, on a port that only it uses. It would outlive the node.
    spawnSync('epmd', ['-kill'], { env, stdio: 'ignore', timeout: 5_000 });
  };
  try {
    const command = join(bin, 'rabbitmq-server');
    const server = await startChildServer({ command, args: [], env, folder, port, stopSignal: 'SIGTERM' });
    return {
      url: `amqp://guest:guest@127.0.0.1:${port}`,
      ...(management ? { managementUrl: `http://guest:guest@127.0.0.1:${managementPort}` } : {}),
      how: `${command}, started for the tests`,
      folder,
      restart: server.restart,
      stop: async () => {
        await server.stop();
        stopEpmd();
      },
      stopNow: () => {
        server.stopNow();
        stopEpmd();
      },
    };
  } catch (error) {
    stopEpmd();
    throw error;
  }
}

function environment(folder: string, { port, distPort, epmdPort, managementPort }: Ports): NodeJS.ProcessEnv {
  const config = join(folder, 'rabbitmq.conf');
  const settings = [`listeners.tcp.default = 127.0.0.1:${port}`, 'disk_free_limit.absolute = 50MB'];
  if (managementPort !== undefined)
    settings.push('management.tcp.ip = 127.0.0.1', `management.tcp.port = ${managementPort}`);
  writeFileSync(config, `${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'plugins'), managementPort === undefined ? '[].\n' : '[rabbitmq_management].\n');
  return {
    PATH: process.env.PATH,
    HOME: folder, // contains the Erlang cookie
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(epmdPort),
  };
}
