import { every, type Repeated } from '@secrets/background';
import type { Db } from '@secrets/db';
import type { FaultKind } from '@secrets/domain';
import { type LaneOfDestination, recordSlowDestination, reportToLane } from '@secrets/sync-entries';
import { type Logger, logFailure } from '@secrets/telemetry';
import { LRUCache } from 'lru-cache';

const flushSeconds = 0.2;
const slowReportMs = 10_000;

/** Pauses that a worker remembers. It learns of the others when it claims. */
const maxPauses = 1_000;

/** Entries of a destination, and destinations, of which a worker remembers that a call was forbidden. */
const maxRefused = { entries: 16, destinations: 1_000 };

/** A call that ended, and when it began. */
interface Call extends LaneOfDestination {
  startedAtMs: number;
}

/**
 * Reports the outcomes of calls to their lanes and destinations. Successes are collected and written several times a second, so
 * that a busy lane is not written once per entry; those of an unhealthy one and failures are written at once.
 */
export class LaneReporter {
  readonly #db: Db;
  readonly #log: Logger;
  /** By destination. */
  readonly #succeeded = new Map<string, Call & { count: number }>();
  readonly #slowSince = new Map<string, number>();
  /** When this worker's calls have paused a destination or a lane last, by its ID; a time of `performance.now`. */
  readonly #pausedAt = new LRUCache<string, number>({ max: maxPauses });
  /** By destination, the entries that were forbidden last since a call has succeeded. */
  readonly #refused = new LRUCache<string, readonly string[]>({ max: maxRefused.destinations });
  #flushing: Repeated | undefined;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  start(): void {
    this.#flushing = every(flushSeconds, 'lane reports', this.#log, () => this.#flush());
  }

  async stop(): Promise<void> {
    await this.#flushing?.stop();
    await this.#flush().catch(() => undefined); // the window grows later
  }

  /** A call succeeded. Never rejects: the entry is synced, whether or not its lane learns of it. */
  async succeeded(call: Call, isUnhealthy: boolean): Promise<void> {
    const { destinationId } = call;
    this.#refused.delete(destinationId);
    const count = (this.#succeeded.get(destinationId)?.count ?? 0) + 1;
    this.#succeeded.set(destinationId, { ...call, count });
    if (isUnhealthy)
      await this.#flush().catch((error: unknown) =>
        logFailure(this.#log, { error, destinationId }, 'a success could not be reported to its lane'),
      );
  }

  /**
   * Reports a failed call, and returns the seconds for which the destination is paused now; 0 if the fault affects the entry
   * alone. Earlier successes are reported first, so that the window grows before it shrinks.
   */
  async failed(
    { startedAtMs, ...lane }: Call,
    failure: { fault: FaultKind; retryAfterSeconds: number | undefined },
    entryId?: string,
  ): Promise<number> {
    await this.#flushOf(lane.destinationId);
    const timing = { tookMs: performance.now() - startedAtMs, random: Math.random() };
    const isRepeated = failure.fault === 'forbidden' && this.#wasRefused(lane.destinationId, entryId);
    const pause = await reportToLane(this.#db, lane, { kind: 'failed', ...failure, isRepeated }, timing);
    if (pause.pausedForSeconds > 0) this.#pausedAt.set(lane.destinationId, performance.now());
    if (pause.lanePausedForSeconds > 0) this.#pausedAt.set(lane.laneId, performance.now());
    return pause.pausedForSeconds;
  }

  /** Whether the entry was forbidden before, as far as this worker remembers; from now on, it was. */
  #wasRefused(destinationId: string, entryId: string | undefined): boolean {
    if (entryId === undefined) return false;
    const refused = this.#refused.get(destinationId) ?? [];
    if (refused.includes(entryId)) return true;
    this.#refused.set(destinationId, [...refused, entryId].slice(-maxRefused.entries));
    return false;
  }

  /**
   * Whether a call of this worker has paused the destination or its lane since `claimedAt`, a time of `performance.now`. An
   * entry that was claimed before must not be worked on then. Whether it was paused before is checked by the claim.
   */
  isPausedSince({ laneId, destinationId }: LaneOfDestination, claimedAt: number): boolean {
    return [laneId, destinationId].some((id) => (this.#pausedAt.get(id) ?? 0) > claimedAt);
  }

  /** A call hangs. */
  slow(destinationId: string): void {
    const now = Date.now();
    if (now - (this.#slowSince.get(destinationId) ?? 0) < slowReportMs) return;
    this.#slowSince.set(destinationId, now);
    recordSlowDestination(this.#db, destinationId).catch((error: unknown) =>
      logFailure(this.#log, { error, destinationId }, 'a slow destination could not be recorded'),
    );
  }

  async #flush(): Promise<void> {
    for (const destinationId of [...this.#succeeded.keys()]) await this.#flushOf(destinationId);
  }

  async #flushOf(destinationId: string): Promise<void> {
    const collected = this.#succeeded.get(destinationId);
    if (collected === undefined) return;
    this.#succeeded.delete(destinationId);
    const { count, startedAtMs, ...lane } = collected;
    const timing = { tookMs: performance.now() - startedAtMs, random: 0 };
    await reportToLane(this.#db, lane, { kind: 'succeeded', count }, timing);
  }
}
