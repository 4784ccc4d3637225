import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Makes the embedded database of a folder that has none yet: beside it, and put in its place when it is whole. What a
 * crash left half made is taken away by the next start.
 */
export async function createIfAbsent(folder: string): Promise<void> {
  const dataDir = resolve(folder);
  if (existsSync(join(dataDir, 'PG_VERSION'))) return;
  const making = `${dataDir}.new-`;
  for (const name of readdirSync(dirname(dataDir)))
    if (name.startsWith(basename(making))) remove(join(dirname(dataDir), name));
  const made = `${making}${process.pid}`;
  mkdirSync(made, { recursive: true, mode: 0o700 });
  const maker = fork(new URL('./create-database.ts', import.meta.url), [made], {
    execArgv: [], // what this process was started with, such as -e, is not for another
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [code] = await once(maker, 'exit');
  if (code !== 0) {
    remove(made);
    throw new Error(`no database could be made in ${dataDir}`);
  }
  remove(dataDir);
  renameSync(made, dataDir);
}

/** The maker of one that a crash left may still write into it for a moment. */
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
