import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '@secrets/db';
import { freePorts } from '../free-ports.ts';
import type { TestServer } from './test-server.ts';

/** Starts the embedded PostgreSQL on a free port of 127.0.0.1, with its data in a temporary folder. */
export async function embeddedPostgres({ durable }: { durable: boolean }): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const [port] = await freePorts(1);
  const server = await startEmbeddedServer({ folder, durable, port: port!, maxConnections: 300 }).catch(
    (error) => {
      remove();
      throw error;
    },
  );
  return {
    url: server.url('postgres'),
    folder,
    how: 'embedded PostgreSQL, started for the tests',
    restart: async (signal, meanwhile) => {
      await server.stop(signal);
      await meanwhile?.(folder);
      await server.start();
    },
    stop: async () => {
      await server.close();
      remove();
    },
    stopNow: () => {
      void server.stop('SIGKILL');
      remove();
    },
  };
}
