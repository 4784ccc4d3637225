import { errorCode, type Json, Problem } from '@secrets/domain';
import type { Broker, BrokerLog } from './broker.ts';
import { backoffMs } from './pause.ts';
import { WakeSignal } from './wake-signal.ts';

export interface OutboxMessage<Id> {
  id: Id;
  queue: string;
  message: Json;
}

export interface RelayOptions<Id> {
  /** Names the outbox in the log. */
  name: string;
  /**
   * Gives at most `limit` messages that are due, leased to this relay by the same statement (`update … set due_at =
   * now() + …  where … for update skip locked … returning …`): whatever is not done by then comes due again.
   */
  take(limit: number): Promise<OutboxMessage<Id>[]>;
  broker: Pick<Broker, 'publish'>;
  /** Takes what was published out of the outbox. If it fails the messages are published again. */
  done(ids: Id[]): Promise<void>;
  /** Told of what could not be published, to end its lease early. */
  failed?(ids: Id[]): Promise<void>;
  log: BrokerLog;
  /** How long it sleeps when nothing is due and nobody notifies it; default 500 ms, jittered. */
  idleMs?: number;
  /** Messages per turn; default 500. */
  batchSize?: number;
}

export interface Relay {
  /** Says that something was put into the outbox. */
  notify(): void;
  /** Resolves when the turn under way has ended. */
  stop(): Promise<void>;
}

const outagePause = { firstMs: 200, maxMs: 5_000 };

/**
 * Carries an outbox to the broker: takes, publishes with confirms, marks done, for ever. At least once; safe to run
 * several times, in one process or many. A failure is logged once per outage.
 */
export function startRelay<Id>(options: RelayOptions<Id>): Relay {
  const { name, log, idleMs = 500, batchSize = 500 } = options;
  const signal = new WakeSignal();
  let isStopping = false;

  const run = async () => {
    let failures = 0;
    while (!isStopping) {
      try {
        const taken = await turn(options, batchSize);
        if (failures > 0 && taken > 0) {
          log.info({ outbox: name }, 'relay publishes again'); // nothing due, all being leased, proves nothing
          failures = 0;
        }
        if (taken < batchSize) await signal.wait(idleMs * (0.75 + Math.random() / 2));
      } catch (error) {
        if (failures === 0)
          log.warn({ outbox: name, reason: reason(error) }, 'relay cannot publish; trying again');
        await pause(backoffMs(failures, outagePause));
        failures += 1;
      }
    }
  };

  /** Notifications do not shorten the pause of an outage; stopping does. */
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

/** One batch. One queue's failure does not keep the others' messages; throws it afterwards. */
async function turn<Id>(options: RelayOptions<Id>, batchSize: number): Promise<number> {
  const batch = await options.take(batchSize);
  const groups = [...Map.groupBy(batch, ({ queue }) => queue)];
  const outcomes = await Promise.allSettled(
    groups.map(([queue, group]) => publishGroup(options, queue, group)),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return batch.length;
}

async function publishGroup<Id>(
  options: RelayOptions<Id>,
  queue: string,
  group: OutboxMessage<Id>[],
): Promise<void> {
  const ids = group.map(({ id }) => id);
  try {
    await options.broker.publish(
      queue,
      group.map(({ message }) => message),
    );
  } catch (error) {
    await options.failed?.(ids);
    throw error;
  }
  await options.done(ids);
}

const reason = (error: unknown): string =>
  error instanceof Problem ? error.message : (errorCode(error) ?? 'unknown');
