import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerPair, startServerPair } from '@secrets/db/standby-testing';
import type { TestServer } from './test-server.ts';

/** Two PostgreSQL servers. `url` leads to the one that is to be used; `restart` restarts the primary. */
export interface PostgresPair extends Required<Pick<TestServer, 'restart'>>, Omit<TestServer, 'restart'> {
  pair: ServerPair;
}

/** Starts two embedded PostgreSQL servers, with their data in a temporary folder. */
export async function postgresPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const pair = await startServerPair({ folder, maxConnections: 300 }).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    pair,
    url: pair.url,
    how: 'two embedded PostgreSQL servers, started for the tests',
    restart: async (signal, meanwhile) => {
      await pair.primary.stop(signal);
      await meanwhile?.(join(folder, 'primary'));
      await pair.primary.start();
    },
    stop: async () => {
      await pair.close();
      remove();
    },
    stopNow: () => {
      void pair.primary.stop('SIGKILL');
      remove();
    },
  };
}
