import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPostgres } from '../../../libs/db/src/index.ts';

/** A copy of the files of a database server. */
export interface Snapshot {
  /** Replaces the files of the server, which must not run. */
  restore(): void;
}

/**
 * Copies the files of a running server to an archive at one moment, as a snapshot of its volume does: its processes are
 * halted meanwhile. From such a copy, PostgreSQL starts as after a crash:
 * https://www.postgresql.org/docs/18/backup-file.html
 */
export async function volumeSnapshot(url: string, archive: string): Promise<Snapshot> {
  const db = openPostgres({ url, connections: 1 });
  const [row] = await db.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  await db.close();
  const { folder } = row!;
  const server = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]!;
  const halted: string[] = [];
  const halt = (id: string) => {
    execFileSync('kill', ['-STOP', id]);
    halted.push(id);
  };
  try {
    halt(server); // first: it starts no more processes then
    for (const id of childrenOf(server)) halt(id);
    await promisify(execFile)('tar', ['-C', folder, '--exclude=./postmaster.pid', '-cf', archive, '.']);
  } finally {
    for (const id of halted) execFileSync('kill', ['-CONT', id]);
  }
  return {
    restore: () => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      execFileSync('tar', ['-C', folder, '-xpf', archive]); // with owners and modes
    },
  };
}

const childrenOf = (parent: string): string[] =>
  readdirSync('/proc').filter((id) => /^\d+$/.test(id) && parentOf(id) === parent);

function parentOf(id: string): string | undefined {
  try {
    return /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
  } catch {
    return undefined; // it has ended
  }
}
