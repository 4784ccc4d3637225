import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { BrokerLog, Verdict } from '../broker.ts';
import { backoffMs } from '../waiting/pause.ts';
import { WakeSignal } from '../waiting/wake-signal.ts';
import { deleteMessages, moveToDeadLetters, requeueMessages, vacuumMessages } from './queries/messages.ts';

interface Settlement {
  queue: string;
  id: number;
  verdict: Verdict;
}

export interface SettlementsOptions {
  log: BrokerLog;
  /** Called after messages were moved to the end of a queue. */
  onRequeued(queue: string): void;
}

const statements = { ack: deleteMessages, requeue: requeueMessages, 'dead-letter': moveToDeadLetters };
const batchDelayMs = 3;
const failurePause = { firstMs: 100, maxMs: 5_000 };
const settledPerVacuum = 20_000;

/**
 * Stores verdicts, many in one statement. A crash loses the verdicts of the last milliseconds; their messages are
 * delivered again. A statement that fails is repeated.
 */
export class EmbeddedSettlements {
  readonly #db: Db;
  readonly #options: SettlementsOptions;
  readonly #signal = new WakeSignal();
  readonly #ended: Promise<void>;
  #pending: Settlement[] = [];
  #settledSinceVacuum = 0;
  #isClosing = false;

  constructor(db: Db, options: SettlementsOptions) {
    this.#db = db;
    this.#options = options;
    this.#ended = this.#run();
  }

  add(settlement: Settlement): void {
    this.#pending.push(settlement);
    this.#signal.wake();
  }

  /** Stores pending verdicts, trying once. Messages whose verdict could not be stored are delivered again after a restart. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#signal.wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isClosing || (this.#pending.length > 0 && failures === 0)) {
      await this.#signal.wait(1_000);
      if (!this.#isClosing) await sleep(batchDelayMs);
      const isStored = await this.#flush();
      if (!isStored && !this.#isClosing) await sleep(backoffMs(failures, failurePause));
      failures = isStored ? 0 : failures + 1;
    }
  }

  async #flush(): Promise<boolean> {
    const batch = this.#pending;
    this.#pending = [];
    const groups = Map.groupBy(batch, ({ queue, verdict }) => `${verdict} ${queue}`);
    let isStored = true;
    for (const group of groups.values()) isStored = (await this.#store(group)) && isStored;
    await this.#vacuum(batch.length);
    return isStored;
  }

  async #store(group: Settlement[]): Promise<boolean> {
    const { queue, verdict } = group[0]!;
    try {
      await statements[verdict](
        this.#db,
        queue,
        group.map(({ id }) => id),
      );
    } catch (error) {
      this.#options.log.error({ queue, code: errorCode(error) }, 'verdicts could not be stored; retrying');
      this.#pending.push(...group);
      return false;
    }
    if (verdict === 'requeue') this.#options.onRequeued(queue);
    return true;
  }

  async #vacuum(settled: number): Promise<void> {
    this.#settledSinceVacuum += settled;
    if (this.#settledSinceVacuum < settledPerVacuum) return;
    this.#settledSinceVacuum = 0;
    await vacuumMessages(this.#db).catch((error: unknown) =>
      this.#options.log.warn({ code: errorCode(error) }, 'vacuum of the message table failed'),
    );
  }
}
