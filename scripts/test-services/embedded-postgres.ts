import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '@secrets/db';
import { freePorts } from '../free-ports.ts';
import type { TestServer } from './test-server.ts';

interface Options {
  durable: boolean;
  /** A folder with a certificate for `localhost`: the URL then requires TLS. */
  certificates?: string | undefined;
}

/** Starts the embedded PostgreSQL on a free port of 127.0.0.1, with its data in a temporary folder. */
export async function embeddedPostgres({ durable, certificates }: Options): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'test-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const [port] = await freePorts(1);
  const settings = certificates === undefined ? {} : tlsSettings(certificates);
  const options = { folder, durable, port: port!, maxConnections: 300, settings };
  const server = await startEmbeddedServer(options).catch((error) => {
    remove();
    throw error;
  });
  return {
    url:
      certificates === undefined ? server.url('postgres') : secureUrl(server.url('postgres'), certificates),
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

const tlsSettings = (folder: string) => ({
  ssl: 'on',
  ssl_cert_file: join(folder, 'tls.crt'),
  ssl_key_file: join(folder, 'tls.key'),
});

function secureUrl(text: string, folder: string): string {
  const url = new URL(text);
  url.hostname = 'localhost';
  url.search = `?sslmode=verify-full&sslrootcert=${join(folder, 'ca.crt')}`;
  return url.href;
}
