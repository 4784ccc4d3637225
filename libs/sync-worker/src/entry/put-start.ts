import type { Db } from '@secrets/db';
import { Fault, isRefusal, type Json } from '@secrets/domain';
import {
  type ClaimedEntry,
  forgetPutStart,
  lockName,
  type Rival,
  recordPutStart,
  recordRemote,
} from '@secrets/sync-entries';
import type { StartOptions } from '../driver/driver.ts';

type HeldEntry = Pick<ClaimedEntry, 'id' | 'fence' | 'externalName' | 'putStartedAt'>;

/** Records for a driver that its put is about to write; see `PutRequest.recordStart` and `PutRequest.recordRemote`. */
export class PutStart {
  readonly #db: Db;
  readonly #entry: HeldEntry;
  readonly #signal: AbortSignal;
  #isLeaseLost = false;
  #isRevocable = false;

  constructor(db: Db, entry: HeldEntry, signal: AbortSignal) {
    this.#db = db;
    this.#entry = entry;
    this.#signal = signal;
  }

  /** Whether another worker may have the entry. Nothing may be written then, neither outside nor in the database. */
  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  /**
   * Writes only for the first put of an external secret. Throws if the attempt is over, and `conflict` if another destination
   * has begun to write the same external secret: the place may have become known during this attempt.
   */
  async record({ inParts = false }: StartOptions = {}): Promise<void> {
    this.#requireTime();
    if (this.#entry.putStartedAt !== null) return;
    await this.#db.transaction(async (tx) => {
      requireNoHolder(this.#entry, await lockName(tx, this.#entry.id));
      this.#requireLease(await recordPutStart(tx, this.#entry));
    });
    this.#isRevocable = !inParts;
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

  /**
   * Forgets the start that this attempt has recorded if the destination has refused the put. Otherwise, a secret of that name
   * which somebody else creates later would count as the entry's own.
   */
  async forgetIfRefused(error: unknown): Promise<void> {
    if (this.#isRevocable && isRefusal(error)) await forgetPutStart(this.#db, this.#entry);
  }
}

/**
 * Requires that the external secret is not another destination's of the same place, although the store may not show it.
 * @throws {Fault} `conflict`
 */
export function requireNoHolder(
  { externalName }: Pick<ClaimedEntry, 'externalName'>,
  rival: Rival | null,
): void {
  if (!rival?.isHolder) return;
  const { destinationName: name } = rival;
  const holder =
    name === null ? 'another destination of this installation' : `the destination ${JSON.stringify(name)}`;
  throw new Fault(
    'conflict',
    `${JSON.stringify(externalName)} is already synced to the same place by ${holder}; remove it there, or give the destinations different name templates`,
  );
}
