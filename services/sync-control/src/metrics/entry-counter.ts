import type { Db } from '@secrets/db';
import { destinationTypes, findDescription } from '@secrets/destinations';
import { type Drift, driftKinds, type SyncStatus, syncStatuses } from '@secrets/domain';
import { countByDrift, countByStatus, readInspectionAges } from '@secrets/sync-entries';
import { maxCountedOfStatus } from '../destinations/status/read-status.ts';
import { listAllDestinations } from '../queries/destinations/destinations.ts';
import type { SyncMetrics } from './sync-metrics.ts';

/** Limits a page to the cost of a request to `sys/sync/status`. */
const pageSize = 10;
/** Milliseconds between two rounds. */
const restMs = 15_000;

const firstId = '00000000-0000-0000-0000-000000000000';

type Gauges = Pick<SyncMetrics, 'entries' | 'drifted' | 'inspectionAge'>;

/**
 * Counts all entries by type and status, and by kind of drift, a page of destinations at a time, so that the cost of a statement
 * does not grow with the number of entries. Publishes the numbers when a round is complete; with many destinations, they are
 * older.
 */
export class EntryCounter {
  readonly #db: Db;
  readonly #gauges: Gauges;
  readonly #now: () => number;
  #position = firstId;
  #restsUntil = 0;
  #round = new Round();

  constructor(db: Db, gauges: Gauges, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#gauges = gauges;
    this.#now = now;
  }

  /** Counts the next page, unless the pause between two rounds lasts. To be repeated every second. */
  async advance(): Promise<void> {
    if (this.#now() < this.#restsUntil) return;
    const page = await listAllDestinations(this.#db, { after: this.#position, limit: pageSize });
    const typeOf = new Map(page.map(({ id, type }) => [id, type]));
    const ids = [...typeOf.keys()];
    for (const { destinationId, status, count } of await countByStatus(this.#db, ids, maxCountedOfStatus))
      this.#round.add(typeOf.get(destinationId)!, status, count);
    for (const { destinationId, drift, count } of await countByDrift(this.#db, ids, maxCountedOfStatus))
      this.#round.add(typeOf.get(destinationId)!, drift, count);
    for (const { destinationId, ageSeconds, settings } of await readInspectionAges(this.#db, ids)) {
      const type = typeOf.get(destinationId)!;
      const { inspection_period: period } = { ...findDescription(type).defaults, ...settings };
      this.#round.seeAge(type, ageSeconds / Number(period));
    }
    if (page.length === pageSize) this.#position = page.at(-1)!.id;
    else this.#publish();
  }

  #publish(): void {
    this.#round.publish(this.#gauges);
    this.#round = new Round();
    this.#position = firstId;
    this.#restsUntil = this.#now() + restMs;
  }
}

/** The counts since the last publication. */
class Round {
  readonly #counts = new Map<string, number>();
  readonly #ages = new Map<string, number>();

  add(type: string, label: SyncStatus | Drift, count: number): void {
    const key = `${type} ${label}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  seeAge(type: string, periods: number): void {
    this.#ages.set(type, Math.max(periods, this.#ages.get(type) ?? 0));
  }

  publish({ entries, drifted, inspectionAge }: Gauges): void {
    for (const destination_type of Object.keys(destinationTypes)) {
      const count = (label: SyncStatus | Drift) => this.#counts.get(`${destination_type} ${label}`) ?? 0;
      for (const status of syncStatuses) entries.set({ destination_type, status }, count(status));
      for (const drift of driftKinds)
        if (drift !== 'none') drifted.set({ destination_type, drift }, count(drift));
      inspectionAge.set({ destination_type }, this.#ages.get(destination_type) ?? 0);
    }
  }
}
