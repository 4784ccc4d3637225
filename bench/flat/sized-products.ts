import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import { createBusyMount, type } from '../scheduling/busy-destination.ts';
import { type Product, type SyncServices, startProduct } from '../system/product.ts';
import { insertAssociations } from './insert-associations.ts';

/** Associations of the destination that has most of them. */
export const sizes = [1_000, 100_000, 1_000_000];

/** The product on a database with so many associations. */
export interface SizedProduct {
  associations: number;
  product: Product;
}

/**
 * Starts one product for each size, all of them at the same time, so that the sizes can be measured in turn. The stores
 * that the destinations name do not exist.
 */
export async function withSizedProducts<T>(
  options: BenchOptions,
  sync: SyncServices,
  work: (products: SizedProduct[]) => Promise<T>,
): Promise<T> {
  const products: SizedProduct[] = [];
  try {
    for (const associations of sizes) {
      const databaseUrl = await options.servers.createDatabase();
      const servers = { ...options.servers, databaseUrl };
      const product = await startProduct({ ...options, servers, sync });
      products.push({ associations, product });
      options.log(`inserting ${associations} associations`);
      await fill(product, databaseUrl, associations);
    }
    return await work(products);
  } finally {
    for (const { product } of products) await product.stop();
  }
}

/** Creates a large destination, and a small one that is the same at each size. */
async function fill({ api }: Product, databaseUrl: string, associations: number): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await createBusyMount(api);
    for (const [name, count] of [
      [large, associations],
      [small, sizes[0]!],
    ] as const) {
      await api('POST', `${destinations}/${name}`, {
        access_key_id: 'bench',
        secret_access_key: 'bench',
        region: 'xx-bench-1',
      });
      await insertAssociations(database, { destination: name, count });
    }
    await database.query('vacuum (analyze)');
    await database.query('checkpoint');
  } finally {
    await database.end();
  }
}

export const destinations = `sys/sync/destinations/${type}`;
/** The destination with as many associations as the size says. */
export const large = 'large';
/** A destination with as many associations as the smallest size says. */
const small = 'small';
