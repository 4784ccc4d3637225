import { randomBytes } from 'node:crypto';
import { eventually } from '@secrets/testing';
import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import type { StoreAccess } from '../limits/store-client.ts';
import type { StoreProcess } from '../limits/store-process.ts';
import type { Api } from '../system/api-client.ts';
import type { Product } from '../system/product.ts';

/** The product with a mount and a destination in the sandbox, and access to what happens in both. */
export interface SyncSetup {
  product: Product;
  sandbox: Api;
  access: StoreAccess;
  storeProcess: StoreProcess;
  /** The product's database, to read entries without loading the services. */
  database: pg.Client;
  close(): Promise<void>;
}

export const mount = 'bench-sync';
export const destination = 'sys/sync/destinations/cloudA-sm/bench';

/** Creates the mount and the destination. */
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

/** Returns a new random value of about 200 bytes. */
export const newValue = () => ({ data: { password: randomBytes(150).toString('base64') } });

/** Waits until a condition in SQL holds. `name` names it in errors. */
export async function untilTrue({ database }: SyncSetup, name: string, condition: string): Promise<void> {
  const check = async () => {
    const { rows } = await database.query<{ holds: boolean }>({
      name,
      text: `select (${condition}) as holds`,
    });
    if (rows[0]?.holds !== true) throw new Error(`timed out waiting until ${name}`);
  };
  await eventually(check, { timeoutMs: 120_000 });
}
