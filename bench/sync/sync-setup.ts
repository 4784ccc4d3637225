import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Api } from '../api-client.ts';
import type { BenchOptions } from '../bench-options.ts';
import type { StoreLooper } from '../limits/run-store-loop.ts';
import type { StoreAccess } from '../limits/store-client.ts';
import type { Product } from '../product.ts';

/** The product with a mount and a destination of the sandbox, and the ways to look at what happens. */
export interface SyncSetup {
  product: Product;
  sandbox: Api;
  access: StoreAccess;
  looper: StoreLooper;
  /** The run's database, to look at entries without loading the services. */
  database: pg.Client;
  close(): Promise<void>;
}

export const mount = 'bench-sync';
export const destination = 'sys/sync/destinations/cloudA-sm/bench';

/** Makes mount and destination. */
export async function openSyncSetup(
  parts: Omit<SyncSetup, 'database' | 'close'>,
  { servers }: BenchOptions,
): Promise<SyncSetup> {
  const { product, access } = parts;
  await product.api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await product.api('POST', destination, {
    access_key_id: access.accessKeyId,
    secret_access_key: access.secretAccessKey,
    region: access.region,
  });
  const database = new pg.Client({ connectionString: servers.databaseUrl });
  await database.connect();
  return { ...parts, database, close: () => database.end() };
}

/** A value of about 200 bytes, another one each time. */
export const newValue = () => ({ data: { password: randomBytes(150).toString('base64') } });

/** Waits until a question about the database is answered with yes. */
export async function untilTrue({ database }: SyncSetup, what: string, question: string): Promise<void> {
  const end = Date.now() + 120_000;
  for (;;) {
    const { rows } = await database.query<{ yes: boolean }>({
      name: what,
      text: `select (${question}) as yes`,
    });
    if (rows[0]?.yes === true) return;
    if (Date.now() > end) throw new Error(`not within two minutes: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
