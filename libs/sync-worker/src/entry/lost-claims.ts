import { every, type Repeated } from '@secrets/background';
import type { Db } from '@secrets/db';
import { type ClaimedEntry, verifyAgain } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

type Claim = Pick<ClaimedEntry, 'id' | 'fence'>;

const retrySeconds = 1;

/**
 * Claims of this worker whose outcome could not be recorded, because the database was unavailable or has lost them, although
 * their destinations may have been called. The external secrets are then uncertain; after a failover that lost the claims, only
 * this worker knows that.
 */
export class LostClaims {
  readonly #db: Db;
  readonly #log: Logger;
  #claims: readonly Claim[] = [];
  #retrying: Repeated | undefined;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  start(): void {
    this.#retrying = every(retrySeconds, 'lost claims', this.#log, () => this.#verify());
  }

  /** Marks the entry for verification, as soon as the database confirms that the claim is lost and no other worker has it. */
  add({ id, fence }: Claim): void {
    this.#claims = [...this.#claims, { id, fence }];
  }

  /** Tries once more to mark the remaining entries. */
  async stop(): Promise<void> {
    await this.#retrying?.stop();
    await this.#verify().catch((error: unknown) =>
      this.#log.warn(
        { error, claims: this.#claims.length },
        'entries with an uncertain outcome are left unverified',
      ),
    );
  }

  async #verify(): Promise<void> {
    const claims = this.#claims;
    if (claims.length === 0) return;
    const left = await verifyAgain(this.#db, claims);
    const isDone = ({ id }: Claim) => !left.has(id);
    this.#claims = this.#claims.filter((claim) => !claims.includes(claim) || !isDone(claim));
  }
}
