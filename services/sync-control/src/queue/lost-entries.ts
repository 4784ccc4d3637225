import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import { type Announcement, announcedEntries, reviveEntries } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

/** At most this many announcements of a type are checked at once. The windows of the lanes permit far fewer. */
const maxChecked = 10_000;

export interface LostEntriesOptions {
  db: Db;
  broker: Pick<Broker, 'depth'>;
  log: Logger;
  destinationTypes: readonly string[];
  /** How long an announcement must be without a message before it counts as lost. */
  afterSeconds: number;
  /** The time in milliseconds; only differences matter. */
  now?: () => number;
}

/** An announcement without a message, and since when. */
type Suspects = Map<string, Announcement & { since: number }>;

/**
 * Announces entries again whose messages were lost; otherwise they would occupy the window of their lane forever. An announcement
 * is lost if its message is neither in the queue nor with a worker. A queue is roughly first in, first out: if it has `n`
 * messages, they belong to the `n` newest announcements, and the older ones have none. Such an announcement is suspected, because
 * a worker may just have received its message; a worker claims what it receives within about a second. It counts as lost when it
 * was suspected for `afterSeconds`. A mistake causes a second message, for which the claim finds nothing to do. A queue that is
 * merely long, or waits while syncing is disabled, loses nothing.
 */
export class LostEntries {
  readonly #options: Required<LostEntriesOptions>;
  readonly #suspects = new Map<string, Suspects>();
  readonly #failing = new Set<string>();

  constructor(options: LostEntriesOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /**
   * Searches all types; returns how many it has announced again. To be repeated every few seconds. A type that cannot
   * be searched affects no other.
   */
  async revive(): Promise<number> {
    let revived = 0;
    for (const type of this.#options.destinationTypes) {
      try {
        revived += await this.#reviveOf(type);
        this.#failing.delete(type);
      } catch (error) {
        this.#reportOnce(type, error);
      }
    }
    return revived;
  }

  async #reviveOf(type: string): Promise<number> {
    const { db, broker, log } = this.#options;
    const announced = await announcedEntries(db, type, maxChecked);
    if (announced.length === 0) {
      this.#suspects.delete(type);
      return 0;
    }
    // Not earlier: the message of each of these announcements was in the queue by now, or is no longer.
    const { ready } = await broker.depth(syncQueue(type));
    const withoutMessage = announced.slice(0, Math.max(0, announced.length - ready));
    const lost = this.#lostOf(
      type,
      withoutMessage.filter(({ isRecorded }) => isRecorded),
    );
    if (lost.length === 0) return 0;
    const revived = await reviveEntries(db, lost);
    if (revived > 0) log.warn({ destinationType: type, revived }, 'lost messages were sent again');
    return revived;
  }

  /** Suspects these announcements, and no others of the type. Returns those that were suspected for long enough. */
  #lostOf(type: string, withoutMessage: readonly Announcement[]): Announcement[] {
    const { afterSeconds, now } = this.#options;
    const before = this.#suspects.get(type);
    const suspects: Suspects = new Map();
    for (const announcement of withoutMessage) {
      const known = before?.get(announcement.entryId);
      const since = known?.announcedAt === announcement.announcedAt ? known.since : now();
      suspects.set(announcement.entryId, { ...announcement, since });
    }
    this.#suspects.set(type, suspects);
    return [...suspects.values()].filter(({ since }) => now() - since >= afterSeconds * 1_000);
  }

  #reportOnce(type: string, error: unknown): void {
    if (this.#failing.has(type)) return;
    this.#failing.add(type);
    this.#options.log.warn(
      { error, destinationType: type },
      'lost messages cannot be searched for; retrying',
    );
  }
}
