import { type Db, isUnavailable } from '../../libs/db/src/index.ts';
import { errorCode } from '../../libs/domain/src/index.ts';
import type { Installation } from '../harness/installation.ts';
import { openDatabase } from '../harness/standalone.ts';

/** The database of an installation that may be killed. */
export class InstalledDatabase {
  readonly #system: Pick<Installation, 'dataDir' | 'env'>;
  #db: Db | undefined;

  constructor(system: Pick<Installation, 'dataDir' | 'env'>) {
    this.#system = system;
  }

  /** Returns undefined while the database is away. */
  async query<Row extends object>(text: string, params: unknown[]): Promise<Row[] | undefined> {
    try {
      this.#db ??= openDatabase(this.#system);
      return await this.#db.query<Row>(text, params);
    } catch (error) {
      // ENOENT: the server has no file with its address.
      if (!isUnavailable(error) && errorCode(error) !== 'ENOENT') throw error;
      await this.close(); // the address may be another one when the server is back
      return undefined;
    }
  }

  async close(): Promise<void> {
    const db = this.#db;
    this.#db = undefined;
    await db?.close();
  }
}
