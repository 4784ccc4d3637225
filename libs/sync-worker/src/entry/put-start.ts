import type { Db } from '@secrets/db';
import { Fault } from '@secrets/domain';
import { type ClaimedEntry, recordPutStart } from '@secrets/sync-entries';

/** Records the start of a put for its driver; see `PutRequest.recordStart`. */
export class PutStart {
  readonly #db: Db;
  readonly #entry: Pick<ClaimedEntry, 'id' | 'fence' | 'putStartedAt'>;
  readonly #signal: AbortSignal;
  #isLeaseLost = false;

  constructor(db: Db, entry: Pick<ClaimedEntry, 'id' | 'fence' | 'putStartedAt'>, signal: AbortSignal) {
    this.#db = db;
    this.#entry = entry;
    this.#signal = signal;
  }

  /** Whether another worker may have the entry. Nothing may be written then, neither outside nor in the database. */
  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  /** Writes only for the first put of an external secret. Throws if the attempt is over. */
  async record(): Promise<void> {
    if (this.#signal.aborted)
      throw new Fault('unavailable', 'the attempt ended before the destination was written');
    if (this.#entry.putStartedAt !== null) return;
    if (await recordPutStart(this.#db, this.#entry)) return;
    this.#isLeaseLost = true;
    throw new Error('the lease of an entry was lost before its put');
  }
}
