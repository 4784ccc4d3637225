import { errorCode, Problem } from '@secrets/domain';
import type { BrokerLog } from '../broker.ts';
import { type PublishingLoop, startPublishingLoop } from '../waiting/publishing-loop.ts';
import { type Outbox, publishBatch } from './publish-batch.ts';

export interface RelayOptions<Id> extends Outbox<Id> {
  /** Names the outbox in the log. */
  name: string;
  log: BrokerLog;
  /** Milliseconds that the relay sleeps when nothing is due and `notify` is not called; default 500, with jitter. */
  idleMs?: number;
  /** Messages per batch; default 500. */
  batchSize?: number;
}

export type Relay = PublishingLoop;

/**
 * Publishes the messages of an outbox until it is stopped: takes a batch, publishes it with confirms, marks it done. Each
 * message is published at least once. Several relays, in one process or many, can share an outbox. An outage is logged once.
 */
export function startRelay<Id>(options: RelayOptions<Id>): Relay {
  const { name, log, idleMs = 500, batchSize = 500 } = options;
  const round = async () => {
    const published = await publishBatch(options, batchSize);
    return {
      sleepMs: published < batchSize ? idleMs * (0.75 + Math.random() / 2) : 0,
      isProof: published > 0, // if none was due, all may be leased
    };
  };
  return startPublishingLoop({
    round,
    onFailure: (error, isFirst) => {
      if (isFirst) log.warn({ outbox: name, reason: reasonOf(error) }, 'relay cannot publish; retrying');
    },
    onRecovery: () => log.info({ outbox: name }, 'relay publishes again'),
  });
}

const reasonOf = (error: unknown): string =>
  error instanceof Problem ? error.message : (errorCode(error) ?? 'unknown');
