import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPostgres } from '../../../libs/db/src/index.ts';

/** A copy of the files of a database server. */
export interface Snapshot {
  /** Replaces the files of the server, which must not run. */
  restore(): Promise<void>;
  /**
   * Kills the server and replaces its files, before whoever watches over the server starts it again: for its clients,
   * a standby is promoted that lacks the newest commits.
   */
  failOver(): Promise<void>;
}

const run = promisify(execFile);

/** Copies the files of the running server at this address to an archive, as `snapshotOf` does. */
export async function volumeSnapshot(url: string, archive: string): Promise<Snapshot> {
  const db = openPostgres({ url, connections: 1 });
  const [row] = await db.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  await db.close();
  return snapshotOf(row!.folder, archive);
}

/**
 * Copies the files of a running server to an archive at one moment, as a snapshot of its volume does: its processes are
 * halted meanwhile. From such a copy, PostgreSQL starts as after a crash:
 * https://www.postgresql.org/docs/18/backup-file.html
 */
export async function snapshotOf(folder: string, archive: string): Promise<Snapshot> {
  const running = halt(folder);
  try {
    await run('tar', ['-C', folder, ...ofRunningServer, '-cf', archive, '.']);
  } finally {
    signal(running, 'SIGCONT');
  }
  return {
    restore: async () => {
      rmSync(folder, { recursive: true });
      await unpack(archive, folder);
    },
    failOver: async () => {
      const [kept, lost] = [`${folder}-kept`, `${folder}-lost`];
      await unpack(archive, kept);
      const ending = halt(folder);
      renameSync(folder, lost);
      renameSync(kept, folder);
      signal(ending.toReversed(), 'SIGKILL'); // the server last: it would start processes in place of these
      rmSync(lost, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const ofRunningServer = ['--exclude=./postmaster.pid', '--exclude=./.s.PGSQL.*'];

async function unpack(archive: string, folder: string): Promise<void> {
  mkdirSync(folder);
  await run('tar', ['-C', folder, '-xpf', archive]); // with owners and modes
}

/** Halts the processes of a server, and returns their IDs: first the server, which starts no more processes then. */
function halt(folder: string): number[] {
  const server = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  signal([server], 'SIGSTOP');
  const children = childrenOf(server);
  signal(children, 'SIGSTOP');
  return [server, ...children];
}

function signal(ids: readonly number[], name: NodeJS.Signals): void {
  for (const id of ids)
    try {
      process.kill(id, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended
    }
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id) && parentOf(id) === parent)
    .map(Number);

function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // it has ended
  }
}
