import { type Broker, type Relay, startRelay } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { type SecretChangedMessage, secretChangesQueue } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import {
  type ClaimedEvents,
  claimOutbox,
  deleteOutbox,
  type OutboxRow,
  releaseOutbox,
} from '../queries/outbox.ts';

const batchSize = 500;

/** Publishes the outbox to the queue of changes. May run in several processes. */
export function startChangesRelay(db: Db, broker: Broker, log: Logger): Relay {
  const relay: Relay = startRelay<ClaimedEvents>({
    name: 'secrets.outbox',
    broker,
    log,
    idleMs: 250,
    batchSize,
    take: async (limit) => {
      const rows = await claimOutbox(db, limit);
      if (rows.length === limit) relay.notify(); // more may be due, although the batch may have fewer messages than rows
      return messagesOf(rows);
    },
    done: (claimed) => deleteOutbox(db, claimed.flat()),
    failed: (claimed) => releaseOutbox(db, claimed.flat()),
  });
  return relay;
}

/** One message per secret. */
export const messagesOf = (rows: readonly OutboxRow[]) =>
  [...Map.groupBy(rows, ({ secretId }) => secretId)].map(([secretId, same]) => ({
    id: same,
    queue: secretChangesQueue,
    message: {
      secret_id: secretId,
      to_match: same.some(({ toMatch }) => toMatch),
    } satisfies SecretChangedMessage,
    traceparent: newestTrace(same),
  }));

/** The rows are in no particular order. */
const newestTrace = (rows: readonly OutboxRow[]): string | null =>
  rows.reduce<OutboxRow | undefined>(
    (newest, row) => (row.traceparent === null || row.id < (newest?.id ?? 0) ? newest : row),
    undefined,
  )?.traceparent ?? null;
