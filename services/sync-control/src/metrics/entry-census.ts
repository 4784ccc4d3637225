import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncStatuses } from '@secrets/domain';
import { countByStatus } from '@secrets/sync-entries';
import { listAllDestinations } from '../queries/destinations.ts';
import { maxCountedOfStatus } from '../status/read-status.ts';
import type { SyncMetrics } from './sync-metrics.ts';

/** So that one page reads no more than a request of `sys/sync/status` does. */
const pageSize = 10;
/** Between the end of a round and the next one. */
const restMs = 15_000;

const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Counts all entries by type and status, a page of destinations at a time: no statement's cost grows with what is stored, and with many
 * destinations the numbers are older. They are published when a round is complete.
 */
export class EntryCensus {
  readonly #db: Db;
  readonly #entries: SyncMetrics['entries'];
  readonly #now: () => number;
  #position = firstId;
  #restsUntil = 0;
  #counts = new Map<string, number>();

  constructor(db: Db, { entries }: Pick<SyncMetrics, 'entries'>, now: () => number = Date.now) {
    this.#db = db;
    this.#entries = entries;
    this.#now = now;
  }

  /** Counts the next page, unless the census rests. To be repeated every second. */
  async advance(): Promise<void> {
    if (this.#now() < this.#restsUntil) return;
    const page = await listAllDestinations(this.#db, { after: this.#position, limit: pageSize });
    const typeOf = new Map(page.map(({ id, type }) => [id, type]));
    for (const { destinationId, status, count } of await countByStatus(
      this.#db,
      [...typeOf.keys()],
      maxCountedOfStatus,
    )) {
      const key = `${typeOf.get(destinationId)} ${status}`;
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    }
    if (page.length === pageSize) this.#position = page.at(-1)!.id;
    else this.#publish();
  }

  #publish(): void {
    for (const destination_type of Object.keys(destinationTypes))
      for (const status of syncStatuses)
        this.#entries.set(
          { destination_type, status },
          this.#counts.get(`${destination_type} ${status}`) ?? 0,
        );
    this.#counts = new Map();
    this.#position = firstId;
    this.#restsUntil = this.#now() + restMs;
  }
}
