import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openPostgres } from '../../libs/db/src/index.ts';

/** A copy of a database server's files. */
export interface Backup {
  /** Replaces the files of the server, which must not run. */
  restore(folder: string): Promise<void>;
}

/**
 * Copies the files of a running server as pg_basebackup does, whose program is not part of the embedded server:
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
export async function onlineBackup(url: string, to: string): Promise<Backup> {
  const db = openPostgres({ url, connections: 1, statementTimeoutMs: 60_000 });
  const [{ data } = { data: '' }] = await db.query<{ data: string }>(
    `select current_setting('data_directory') as data`,
  );
  try {
    // One connection: the backup ends with the session that began it.
    await db.query(`select pg_backup_start('restore test', true)`);
    await mkdir(to, { recursive: true });
    await cp(data, to, { recursive: true, filter: isCopied, force: true });
    const [stop] = await db.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await cp(join(data, 'pg_wal'), join(to, 'pg_wal'), { recursive: true });
    await writeFile(join(to, 'backup_label'), stop!.labelfile);
  } finally {
    await db.close();
  }
  return {
    restore: async (folder) => {
      const target = data.startsWith(folder) ? data : join(folder, basename(data));
      await rm(target, { recursive: true });
      await cp(to, target, { recursive: true });
    },
  };
}

/** Files that a backup must not contain, or that change while it is made: the log is copied afterwards. */
const isCopied = (path: string): boolean => !/\/(postmaster\.(pid|opts)|pg_wal\/.+|pgsql_tmp.*)$/.test(path);
