import { openPostgres } from '../connections/open-postgres.ts';
import type { Db } from '../db.ts';
import { startEmbeddedServer } from './server.ts';

export interface EmbeddedOptions {
  /** The folder that holds the database; created if absent. */
  folder: string;
  onLog?: (line: string, isStopping: boolean) => void;
}

/**
 * Opens a database on a PostgreSQL server of its own, which runs as a child process and is stopped by `close`.
 * @throws as `startEmbeddedServer`
 */
export async function openEmbedded({ folder, onLog }: EmbeddedOptions): Promise<Db> {
  const server = await startEmbeddedServer({ folder, ...(onLog === undefined ? {} : { onLog }) });
  const db = openPostgres({ url: server.url('postgres') });
  return {
    query: (text, params) => db.query(text, params),
    transaction: (work, options) => db.transaction(work, options),
    now: db.now,
    close: async () => {
      await db.close();
      await server.close();
    },
  };
}
