import { randomBytes } from 'node:crypto';
import { eventually } from '@secrets/testing';
import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import { type StoreProcess, startStoreProcess } from '../limits/store-process.ts';
import { storeAddresses } from '../limits/stores/open-store.ts';
import { type DestinationFields, fieldsOf, type StoreAddress } from '../limits/stores/store-client.ts';
import { type Api, sandboxClient } from '../system/api-client.ts';
import { type Product, type SyncServices, startProduct } from '../system/product.ts';
import { startProgram } from '../system/program.ts';

/** The product with a mount and a destination in the sandbox, and access to what happens in both. */
export interface SyncSetup {
  product: Product;
  sandbox: Api;
  /** The stores of the sandbox, by destination type. */
  addresses: ReadonlyMap<string, StoreAddress>;
  /** The fields of a destination of the store of cloudA-sm. */
  fields: DestinationFields;
  storeProcess: StoreProcess;
  /** The product's database, to read entries without loading the services. */
  database: pg.Client;
  close(): Promise<void>;
}

export const mount = 'bench-sync';
export const destination = 'sys/sync/destinations/cloudA-sm/bench';

/** Starts the product, the sandbox and a process that calls the store alone, and stops them when `work` has ended. */
export async function withSyncSetup<T>(
  options: BenchOptions,
  sync: SyncServices,
  work: (setup: SyncSetup) => Promise<T>,
  sandboxProgram = 'services/sandbox/src/main.ts',
): Promise<T> {
  const sandbox = await startProgram({ source: sandboxProgram, env: {} });
  const storeProcess = startStoreProcess();
  try {
    const product = await startProduct({ ...options, sandboxUrl: sandbox.url, sync });
    try {
      const control = sandboxClient(sandbox.url);
      const addresses = await storeAddresses(sandbox.url, control);
      const fields = fieldsOf(addresses.get('cloudA-sm')!);
      const setup = await openSyncSetup(
        { product, sandbox: control, addresses, fields, storeProcess },
        options,
      );
      return await work(setup).finally(setup.close);
    } finally {
      await product.stop();
    }
  } finally {
    storeProcess.stop();
    await sandbox.stop();
  }
}

/** Creates the mount and the destination. */
export async function createDestination({
  api,
  fields,
}: {
  api: Api;
  fields: DestinationFields;
}): Promise<void> {
  await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await api('POST', destination, fields);
}

async function openSyncSetup(
  parts: Omit<SyncSetup, 'database' | 'close'>,
  { servers }: BenchOptions,
): Promise<SyncSetup> {
  const { product, fields } = parts;
  await createDestination({ api: product.api, fields });
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
