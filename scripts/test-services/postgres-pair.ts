import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerPair, startServerPair } from '@secrets/db/standby-testing';
import type { TestServer } from './test-server.ts';

/** Two PostgreSQL servers. `url` leads to the one that is to be used, and `restart` restarts that one. */
export interface PostgresPair extends Required<Pick<TestServer, 'restart'>>, Omit<TestServer, 'restart'> {
  pair: ServerPair;
  /** Makes the standby the server that is used, after the primary has ended. Resolves when it accepts writes. */
  failOver(): Promise<void>;
}

/** Starts two embedded PostgreSQL servers, with their data in a temporary folder. */
export async function postgresPair(isSynchronous: boolean): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const pair = await startServerPair({ folder, maxConnections: 300, isSynchronous }).catch(
    (error: unknown) => {
      remove();
      throw error;
    },
  );
  let inUse: 'primary' | 'standby' = 'primary';
  return {
    pair,
    folder,
    url: pair.url,
    how: 'two embedded PostgreSQL servers, started for the tests',
    restart: async (signal, meanwhile) => {
      await pair[inUse].stop(signal);
      await meanwhile?.(join(folder, inUse));
      await pair[inUse].start();
    },
    failOver: async () => {
      pair.switchAddress();
      await pair.promote();
      inUse = 'standby';
    },
    stop: async () => {
      await pair.close();
      remove();
    },
    stopNow: () => {
      void pair.primary.stop('SIGKILL');
      void pair.standby.stop('SIGKILL');
      remove();
    },
  };
}
