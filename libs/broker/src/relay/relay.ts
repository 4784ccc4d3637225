import { errorCode, Problem } from '@secrets/domain';
import type { BrokerLog } from '../broker.ts';
import { backoffMs } from '../waiting/pause.ts';
import { WakeSignal } from '../waiting/wake-signal.ts';
import { type Outbox, publishBatch } from './publish-batch.ts';

export interface RelayOptions<Id> extends Outbox<Id> {
  /** Names the outbox in the log. */
  name: string;
  log: BrokerLog;
  /** How long the relay sleeps when nothing is due and nobody calls `notify`; default 500 ms, with jitter. */
  idleMs?: number;
  /** Messages per batch; default 500. */
  batchSize?: number;
}

export interface Relay {
  /** Wakes the relay: the outbox has new messages. */
  notify(): void;
  /** Resolves when the current batch has ended. */
  stop(): Promise<void>;
}

const outagePause = { firstMs: 200, maxMs: 5_000 };

/**
 * Publishes the messages of an outbox until it is stopped: takes a batch, publishes it with confirms, marks it done. Each
 * message is published at least once. Several relays, in one process or many, can share an outbox. An outage is logged
 * once.
 */
export function startRelay<Id>(options: RelayOptions<Id>): Relay {
  const { name, log, idleMs = 500, batchSize = 500 } = options;
  const signal = new WakeSignal();
  let isStopping = false;

  const run = async () => {
    let failures = 0;
    while (!isStopping) {
      try {
        const published = await publishBatch(options, batchSize);
        // An empty batch does not prove that the broker is back: all messages may be leased.
        if (failures > 0 && published > 0) {
          log.info({ outbox: name }, 'relay publishes again');
          failures = 0;
        }
        if (published < batchSize) await signal.wait(idleMs * (0.75 + Math.random() / 2));
      } catch (error) {
        if (failures === 0)
          log.warn({ outbox: name, reason: reason(error) }, 'relay cannot publish; retrying');
        await pause(backoffMs(failures, outagePause));
        failures += 1;
      }
    }
  };

  /** Only `stop` shortens the pause of an outage, `notify` does not. */
  const pause = async (ms: number) => {
    const end = Date.now() + ms;
    while (!isStopping && Date.now() < end) await signal.wait(end - Date.now());
  };

  const ended = run();
  return {
    notify: () => signal.wake(),
    stop: async () => {
      isStopping = true;
      signal.wake();
      await ended;
    },
  };
}

const reason = (error: unknown): string =>
  error instanceof Problem ? error.message : (errorCode(error) ?? 'unknown');
