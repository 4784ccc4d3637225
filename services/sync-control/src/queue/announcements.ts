import { every, type Repeated } from '@secrets/background';
import type { Db } from '@secrets/db';
import { type AdmissionRecord, markAnnounced } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

/** Much less than the 30 s after which an admitted entry is due again. */
const recordSeconds = 1;

/**
 * Records that entries were published, once a second: a worker usually claims an entry within milliseconds, and then
 * there is nothing left to record. If the process dies before, or the record fails for long, unclaimed entries are due
 * again after 30 s, and are published twice, which changes nothing.
 */
export class Announcements {
  readonly #db: Db;
  readonly #recording: Repeated;
  #published: AdmissionRecord[] = [];

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#recording = every(recordSeconds, 'announcements', log, () => this.#record());
  }

  add(admission: AdmissionRecord): void {
    this.#published.push(admission);
  }

  async stop(): Promise<void> {
    await this.#recording.stop();
    await this.#record().catch(() => undefined); // they are published again
  }

  /** If it fails, what was published is forgotten: it is published again, which bounds the memory during an outage. */
  async #record(): Promise<void> {
    const published = this.#published;
    if (published.length === 0) return;
    this.#published = [];
    await markAnnounced(this.#db, published);
  }
}
