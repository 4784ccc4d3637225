import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '@secrets/domain';
import { DatabaseStartError } from '../start-error.ts';
import type { Binaries } from './binaries.ts';
import { chownToServer, launch } from './launch.ts';

/** The major version of the embedded PostgreSQL: a data folder belongs to one. */
const majorVersion = '18';

/** The file of the superuser's password, in the folder that holds the data folder. */
export const passwordFile = (folder: string): string => join(folder, 'password');

/** The folder with PostgreSQL's own files. */
export const clusterFolder = (folder: string): string => join(folder, 'data');

/**
 * Creates the data of a PostgreSQL server in `folder` unless it is there: in a temporary folder beside it, which is renamed
 * when it is complete. What a crash left behind is removed by the next call. The caller holds the lock of the folder.
 * @param durable whether to wait until the files are on the disk
 * @throws if the data was created by another major version
 */
export async function createDataFolder(
  folder: string,
  { initdb }: Binaries,
  durable: boolean,
): Promise<void> {
  const target = clusterFolder(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(target)}.new-`)) await remove(join(folder, name));
  if (existsSync(join(target, 'PG_VERSION'))) return assertVersion(target);
  const temporary = `${target}.new-${randomBytes(4).toString('hex')}`;
  mkdirSync(temporary, { mode: 0o700 });
  chownToServer(temporary);
  await runInitdb(initdb, temporary, writePassword(folder), durable);
  await remove(target);
  renameSync(temporary, target);
  if (durable) syncFolder(dirname(target));
}

function assertVersion(target: string): void {
  const version = readFileSync(join(target, 'PG_VERSION'), 'utf8').trim();
  if (version === majorVersion) return;
  throw new DatabaseStartError(
    `${target} was created by PostgreSQL ${version}, and this version of the service embeds PostgreSQL ${majorVersion}: ` +
      'dump it with the version that created it, or set DATABASE_URL to a server that can read it',
  );
}

function writePassword(folder: string): string {
  const file = passwordFile(folder);
  writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  chownToServer(file);
  return file;
}

async function runInitdb(initdb: string, folder: string, pwfile: string, durable: boolean): Promise<void> {
  const args = [
    `--pgdata=${folder}`,
    '--username=postgres',
    `--pwfile=${pwfile}`,
    '--auth-local=trust', // whoever can enter the folder of the socket: this user
    '--auth-host=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync']),
  ];
  // Not SIGINT: initdb ends at its next step, and may have created the folder again that the next start has removed.
  const child = launch(initdb, args, { deathSignal: 'SIGKILL' });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output = (output + chunk).slice(-2_000);
    });
  const [code] = await once(child, 'close').catch((error: unknown) => [String(error)]);
  if (code !== 0) {
    await remove(folder);
    throw new DatabaseStartError(
      `the database could not be created in ${dirname(folder)}: ${output.trim() || code}`,
    );
  }
}

/**
 * Removes a folder that a program left behind by a crash may still be writing to for a moment: `initdb` ends at once, and the
 * server that it has started when it notices. Until then, files appear and disappear, which lets a removal fail, or end early
 * without an error.
 */
async function remove(folder: string): Promise<void> {
  const deadline = Date.now() + removalTimeoutMs;
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY' || Date.now() > deadline) throw error;
    }
    if (!existsSync(folder)) return;
    if (Date.now() > deadline)
      throw new DatabaseStartError(`${folder} could not be removed: a program writes to it`);
    await sleep(removalPauseMs);
  }
}

const removalTimeoutMs = 10_000;
const removalPauseMs = 50;

/** Makes a rename durable: https://man7.org/linux/man-pages/man2/fsync.2.html */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // a folder cannot be opened there
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
