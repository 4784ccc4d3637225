import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { clusterFolder, passwordFile } from './data-folder.ts';

/**
 * Where a server accepts connections: a Unix socket in a folder that only its user can enter, or a loopback port with a
 * password.
 */
export type Address = { socketFolder: string } | { port: number; password: string };

const socketName = '.s.PGSQL.5432';

/** The shortest limit of the supported platforms: https://man7.org/linux/man-pages/man7/unix.7.html, `sun_path` */
const maxSocketPathBytes = 103;

/**
 * Chooses a Unix socket, or a loopback port where there are no sockets, the path is too long for one, or a port was requested.
 */
export async function chooseAddress(folder: string, port: number | undefined): Promise<Address> {
  const socketFolder = clusterFolder(folder);
  const fits = Buffer.byteLength(join(socketFolder, socketName)) <= maxSocketPathBytes;
  if (port === undefined && process.platform !== 'win32' && fits) return { socketFolder };
  return { port: port ?? (await freePort()), password: readFileSync(passwordFile(folder), 'utf8').trim() };
}

/** The URL of a database of the server at an address. */
export function databaseUrl(address: Address, database: string): string {
  if ('port' in address)
    return `postgres://postgres:${address.password}@127.0.0.1:${address.port}/${database}`;
  return `postgres:///${database}?user=postgres&host=${encodeURIComponent(address.socketFolder)}`;
}

/** Server settings for an address, as command line arguments. */
export const addressSettings = (address: Address): string[] =>
  'port' in address
    ? ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-p', String(address.port)]
    : [
        '-c',
        'listen_addresses=',
        '-c',
        `unix_socket_directories=${quoted(address.socketFolder)}`,
        '-p',
        '5432',
      ];

/** The setting is a comma-separated list of names: https://www.postgresql.org/docs/18/runtime-config-connection.html */
const quoted = (folder: string): string => `"${folder.replaceAll('"', '""')}"`;

/** A port of 127.0.0.1 that is not in use. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await once(server.close(), 'close');
  return port;
}
