import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.ts';
import { startChildServer } from './child-server.ts';
import type { TestServer } from './test-server.ts';

const run = promisify(execFile);
const debianFolder = '/usr/lib/postgresql';

/** A Postgres of this machine's installation on a free port, its data in a temporary folder; synced only when `durable`. */
export async function installedPostgres({ durable }: { durable: boolean }): Promise<TestServer | string> {
  const bin = findBin();
  if (bin === undefined) return 'Postgres is not installed';
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const [port] = await freePorts(1);
  try {
    const asUser = await commandPrefix(folder);
    const dataDir = join(folder, 'data');
    const [initdb, ...initArgs] = [
      ...asUser,
      join(bin, 'initdb'),
      '-D',
      dataDir,
      '-U',
      'postgres',
      '-A',
      'trust',
    ];
    await run(initdb!, [...initArgs, '-E', 'UTF8', '--no-sync'], { cwd: folder, timeout: 60_000 });
    const settings = [
      `fsync=${durable ? 'on' : 'off'}`,
      'listen_addresses=127.0.0.1',
      'max_connections=300',
      `unix_socket_directories=${folder}`,
    ];
    const [command, ...args] = [...asUser, join(bin, 'postgres'), '-D', dataDir, '-p', String(port)];
    for (const setting of settings) args.push('-c', setting);
    const server = await startChildServer({
      command: command!,
      args,
      env: process.env,
      folder,
      port: port!,
      stopSignal: 'SIGINT',
    });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const ready = () => untilReady(join(bin, 'pg_isready'), port!);
    await ready();
    return {
      ...server,
      restart: async (signal, meanwhile) => {
        await server.restart(signal, async (data) => {
          await meanwhile?.(data);
          await new Promise((resolve) => setTimeout(resolve, 500)); // its backends notice, and let go of its memory
        });
        await ready();
      },
      url,
      how: `${bin}/postgres, started for the tests`,
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function findBin(): string | undefined {
  const versions = existsSync(debianFolder)
    ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
    : [];
  const onPath = (process.env.PATH ?? '').split(delimiter);
  const folders = [...versions.map((version) => join(debianFolder, version, 'bin')), ...onPath];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** Postgres refuses to run as root; its package comes with a user of its own. */
async function commandPrefix(folder: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  await run('chown', ['postgres', folder]);
  chmodSync(folder, 0o700);
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'];
}

/** It listens before it takes connections. */
async function untilReady(pgIsReady: string, port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const args = ['-q', '-h', '127.0.0.1', '-p', String(port)];
    const isReady = await run(pgIsReady, args).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
