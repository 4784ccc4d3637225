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

interface Options {
  management?: boolean;
  /** A folder with a certificate for `localhost`: the node then accepts TLS only. */
  certificates?: string | undefined;
}

/** Starts a RabbitMQ node of this machine's installation on free ports of 127.0.0.1. It shares nothing with other nodes. */
export async function installedRabbit({
  management = false,
  certificates,
}: Options = {}): Promise<TestServer | string> {
  const folders = [...knownFolders, ...(process.env.PATH ?? '').split(delimiter)];
  const bin = folders.find((folder) => existsSync(join(folder, 'rabbitmq-server')));
  if (bin === undefined) return 'RabbitMQ is not installed';
  const folder = mkdtempSync(join(tmpdir(), 'test-rabbitmq-'));
  const [port, distPort, epmdPort, freePort] = (await freePorts(4)) as [number, number, number, number];
  const managementPort = management ? freePort : undefined;
  const env = environment(folder, { port, distPort, epmdPort, managementPort }, certificates);
  const stopEpmd = () => {
    // The node started epmd, on a port that only it uses. It would outlive the node.
    spawnSync('epmd', ['-kill'], { env, stdio: 'ignore', timeout: 5_000 });
  };
  try {
    const command = join(bin, 'rabbitmq-server');
    const server = await startChildServer({ command, args: [], env, folder, port, stopSignal: 'SIGTERM' });
    return {
      ...urls(port, managementPort, certificates),
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

function urls(port: number, managementPort: number | undefined, certificates: string | undefined) {
  const authority = `guest:guest@${certificates === undefined ? '127.0.0.1' : 'localhost'}`;
  const s = certificates === undefined ? '' : 's';
  const query = certificates === undefined ? '' : `?cacertfile=${join(certificates, 'ca.crt')}`;
  return {
    url: `amqp${s}://${authority}:${port}${query}`,
    ...(managementPort === undefined ? {} : { managementUrl: `http${s}://${authority}:${managementPort}` }),
  };
}

/** https://www.rabbitmq.com/docs/ssl and https://www.rabbitmq.com/docs/management#single-listener-https */
function listeners(
  { port, managementPort }: Pick<Ports, 'port' | 'managementPort'>,
  certificates: string | undefined,
): string[] {
  const plain = [
    `listeners.tcp.default = 127.0.0.1:${port}`,
    ...(managementPort === undefined
      ? []
      : ['management.tcp.ip = 127.0.0.1', `management.tcp.port = ${managementPort}`]),
  ];
  if (certificates === undefined) return plain;
  const files = (prefix: string) => [
    `${prefix}.cacertfile = ${join(certificates, 'ca.crt')}`,
    `${prefix}.certfile = ${join(certificates, 'tls.crt')}`,
    `${prefix}.keyfile = ${join(certificates, 'tls.key')}`,
  ];
  return [
    'listeners.tcp = none',
    `listeners.ssl.default = 127.0.0.1:${port}`,
    ...files('ssl_options'),
    ...(managementPort === undefined
      ? []
      : [
          'management.ssl.ip = 127.0.0.1',
          `management.ssl.port = ${managementPort}`,
          ...files('management.ssl'),
        ]),
  ];
}

function environment(
  folder: string,
  { port, distPort, epmdPort, managementPort }: Ports,
  certificates: string | undefined,
): NodeJS.ProcessEnv {
  const config = join(folder, 'rabbitmq.conf');
  const settings = [...listeners({ port, managementPort }, certificates), 'disk_free_limit.absolute = 50MB'];
  writeFileSync(config, `${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'plugins'), managementPort === undefined ? '[].\n' : '[rabbitmq_management].\n');
  return {
    PATH: process.env.PATH,
    HOME: folder, // contains the Erlang cookie
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    // They would add a listener without TLS.
    ...(certificates === undefined
      ? { RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1', RABBITMQ_NODE_PORT: String(port) }
      : {}),
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
