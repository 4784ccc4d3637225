import type { PGlite, Transaction } from '@electric-sql/pglite';
import { createIfAbsent } from './create-if-absent.ts';
import type { Db, Params, Tx } from './db.ts';
import { lockFolder } from './lock-folder.ts';
import { TransactionGuard } from './transaction-guard.ts';

export interface EmbeddedOptions {
  /** The folder that holds the database; in memory when absent. */
  dataDir?: string;
}

const int8 = 20;
const parsers = { [int8]: Number };

const run = async <Row>(client: PGlite | Transaction, text: string, params: Params = []): Promise<Row[]> => {
  const result = await client.query<Row>(text, [...params], { parsers });
  return result.rows;
};

const handle = (tx: Transaction): Tx => ({
  query: (text, params) => run(tx, text, params),
  script: async (text) => {
    await tx.exec(text);
  },
});

/**
 * Opens Postgres inside this process (PGlite). Durable in `dataDir`, over kill -9 too; a second process on the
 * same folder is refused, because two would destroy it.
 */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Db> {
  const { PGlite } = await import('@electric-sql/pglite');
  const unlock = options.dataDir === undefined ? () => undefined : lockFolder(options.dataDir);
  if (options.dataDir !== undefined) await createIfAbsent(options.dataDir);
  const lite = await PGlite.create(options.dataDir === undefined ? {} : { dataDir: options.dataDir });
  const guard = new TransactionGuard();
  return {
    kind: 'embedded',
    query: (text, params) => {
      guard.assertOutside();
      return run(lite, text, params);
    },
    transaction: (work) => guard.run(() => lite.transaction((tx) => work(handle(tx)))),
    close: async () => {
      await lite.close();
      unlock();
    },
  };
}
