import { type Db, isUnavailable } from '../../libs/db/src/index.ts';
import { errorCode } from '../../libs/domain/src/index.ts';
import type { Installation } from '../harness/installation.ts';
import { openDatabase } from '../harness/standalone.ts';

/** The server has no file with its address; or a deadlock with a jump of the clock, which locks tables. */
const passing: ReadonlySet<string | undefined> = new Set(['ENOENT', '40P01']);

/** The database of an installation that may be killed. */
export class InstalledDatabase {
  readonly #system: Pick<Installation, 'dataDir' | 'env'>;
  #db: Db | undefined;

  constructor(system: Pick<Installation, 'dataDir' | 'env'>) {
    this.#system = system;
  }

  /** Returns undefined while the database is away, or locked by a jump of its clock. */
  async query<Row extends object>(text: string, params: unknown[]): Promise<Row[] | undefined> {
    try {
      this.#db ??= openDatabase(this.#system);
      return await this.#db.query<Row>(text, params);
    } catch (error) {
      if (!isUnavailable(error) && !passing.has(errorCode(error))) throw error;
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
