import type { Db } from '@secrets/db';
import { Fault, type Json } from '@secrets/domain';
import { type ClaimedEntry, recordPutStart, recordRemote } from '@secrets/sync-entries';

/** Records for a driver that its put is about to write; see `PutRequest.recordStart` and `PutRequest.recordRemote`. */
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
    this.#requireTime();
    if (this.#entry.putStartedAt === null) this.#requireLease(await recordPutStart(this.#db, this.#entry));
  }

  /** Throws if the attempt is over. */
  async recordRemote(remote: Json): Promise<void> {
    this.#requireTime();
    this.#requireLease(await recordRemote(this.#db, this.#entry, remote));
  }

  #requireTime(): void {
    if (this.#signal.aborted)
      throw new Fault('unavailable', 'the attempt ended before the destination was written');
  }

  #requireLease(isHeld: boolean): void {
    if (isHeld) return;
    this.#isLeaseLost = true;
    throw new Error('the lease of an entry was lost before its put');
  }
}
