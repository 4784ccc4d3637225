import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncStatuses } from '@secrets/domain';
import { countByStatus } from '@secrets/sync-entries';
import { maxCountedOfStatus } from '../destinations/status/read-status.ts';
import { listAllDestinations } from '../queries/destinations/destinations.ts';
import type { SyncMetrics } from './sync-metrics.ts';

/** Limits a page to the cost of a request to `sys/sync/status`. */
const pageSize = 10;
/** Milliseconds between two rounds. */
const restMs = 15_000;

const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Counts all entries by type and status, a page of destinations at a time, so that the cost of a statement does not grow with the
 * number of entries. Publishes the numbers when a round is complete; with many destinations, they are older.
 */
export class EntryCounter {
  readonly #db: Db;
  readonly #entries: SyncMetrics['entries'];
  readonly #now: () => number;
  #position = firstId;
  #restsUntil = 0;
  #counts = new Map<string, number>();

  constructor(
    db: Db,
    { entries }: Pick<SyncMetrics, 'entries'>,
    now: () => number = () => performance.now(),
  ) {
    this.#db = db;
    this.#entries = entries;
    this.#now = now;
  }

  /** Counts the next page, unless the pause between two rounds lasts. To be repeated every second. */
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
