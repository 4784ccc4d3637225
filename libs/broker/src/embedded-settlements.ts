import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { BrokerLog, Verdict } from './broker.ts';
import { backoffMs, sleep } from './pause.ts';
import { deleteMessages, moveToDeadLetters, requeueMessages, vacuumMessages } from './queries/messages.ts';
import { WakeSignal } from './wake-signal.ts';

interface Settlement {
  queue: string;
  id: number;
  verdict: Verdict;
}

export interface SettlementsOptions {
  log: BrokerLog;
  /** Told after messages of a queue went to its end. */
  onRequeued(queue: string): void;
}

const statements = { ack: deleteMessages, requeue: requeueMessages, 'dead-letter': moveToDeadLetters };
const batchDelayMs = 3;
const failurePause = { firstMs: 100, maxMs: 5_000 };
const settledPerVacuum = 20_000;

/**
 * Writes verdicts down, many in one statement. A crash loses those of the last milliseconds: their messages are
 * delivered again. Nothing is lost to a statement that fails; it is repeated.
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

  /** Writes what is pending and ends; what cannot be written at the first try is left to be delivered again. */
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
      const isWritten = await this.#flush();
      if (!isWritten && !this.#isClosing) await sleep(backoffMs(failures, failurePause));
      failures = isWritten ? 0 : failures + 1;
    }
  }

  async #flush(): Promise<boolean> {
    const batch = this.#pending;
    this.#pending = [];
    const groups = Map.groupBy(batch, ({ queue, verdict }) => `${verdict} ${queue}`);
    let isWritten = true;
    for (const group of groups.values()) isWritten = (await this.#write(group)) && isWritten;
    await this.#vacuum(batch.length);
    return isWritten;
  }

  async #write(group: Settlement[]): Promise<boolean> {
    const { queue, verdict } = group[0]!;
    try {
      await statements[verdict](
        this.#db,
        queue,
        group.map(({ id }) => id),
      );
    } catch (error) {
      this.#options.log.error({ queue, code: errorCode(error) }, 'verdicts on messages could not be written');
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
      this.#options.log.warn({ code: errorCode(error) }, 'message table could not be vacuumed'),
    );
  }
}
