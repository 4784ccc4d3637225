import { every, type Repeated } from '@secrets/background';
import type { Db } from '@secrets/db';
import type { FaultKind } from '@secrets/domain';
import { recordSlowLane, reportToLane } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

const flushSeconds = 0.2;
const slowReportMs = 10_000;

/** A call that ended, and when it began. */
interface Call {
  laneId: string;
  startedAtMs: number;
}

/**
 * Reports to lanes how their calls fare. Successes are collected and written several times a second, so that a busy lane is not written once per
 * entry; those of an unhealthy lane and failures are written at once.
 */
export class LaneReporter {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #succeeded = new Map<string, { count: number; startedAtMs: number }>();
  readonly #slowSince = new Map<string, number>();
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
  async succeeded({ laneId, startedAtMs }: Call, isUnhealthy: boolean): Promise<void> {
    const collected = this.#succeeded.get(laneId);
    this.#succeeded.set(laneId, { count: (collected?.count ?? 0) + 1, startedAtMs });
    if (isUnhealthy)
      await this.#flush().catch((error: unknown) =>
        this.#log.warn({ error, laneId }, 'a success could not be reported to its lane'),
      );
  }

  /** A call failed. Returns for how many seconds the lane is paused now; 0 if the fault concerns the entry alone. */
  async failed(
    { laneId, startedAtMs }: Call,
    failure: { fault: FaultKind; retryAfterSeconds: number | undefined },
  ): Promise<number> {
    const report = { kind: 'failed', ...failure } as const;
    const lane = await reportToLane(this.#db, laneId, report, {
      tookMs: Date.now() - startedAtMs,
      random: Math.random(),
    });
    return lane?.pausedForSeconds ?? 0;
  }

  /** A call hangs. */
  slow(laneId: string): void {
    const now = Date.now();
    if (now - (this.#slowSince.get(laneId) ?? 0) < slowReportMs) return;
    this.#slowSince.set(laneId, now);
    recordSlowLane(this.#db, laneId).catch((error: unknown) =>
      this.#log.warn({ error, laneId }, 'a slow lane could not be recorded'),
    );
  }

  async #flush(): Promise<void> {
    const collected = [...this.#succeeded];
    this.#succeeded.clear();
    for (const [laneId, { count, startedAtMs }] of collected) {
      const tookMs = Date.now() - startedAtMs;
      await reportToLane(this.#db, laneId, { kind: 'succeeded', count }, { tookMs, random: 0 });
    }
  }
}
