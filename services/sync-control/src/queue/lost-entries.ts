import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncQueue } from '@secrets/domain';
import { readSyncConfig, reviveLostEntries } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

/** In a queue that is not empty, a message counts as lost only after this multiple of `lostAfterSeconds`. */
const nonEmptyQueueFactor = 15;

interface Sweep {
  db: Db;
  broker: Pick<Broker, 'depth'>;
  log: Logger;
}

/**
 * Announces entries again whose messages were lost. A message is lost if its entry was announced and not claimed for
 * `lostAfterSeconds` while the queue is empty. While messages wait, it may be among them, so it counts as lost only
 * after a multiple of that time; otherwise a queue that is never empty would keep it forever. While syncing is
 * disabled, all messages wait. A type whose queue is missing affects no other.
 */
export async function reviveLost(sweep: Sweep, lostAfterSeconds: number): Promise<void> {
  const { disabled } = await readSyncConfig(sweep.db);
  for (const type of Object.keys(destinationTypes)) {
    await reviveLostOf(type, sweep, { disabled, lostAfterSeconds }).catch((error: unknown) =>
      sweep.log.warn(
        { error, destinationType: type },
        'lost messages could not be looked for; will be retried',
      ),
    );
  }
}

async function reviveLostOf(
  type: string,
  { db, broker, log }: Sweep,
  { disabled, lostAfterSeconds }: { disabled: boolean; lostAfterSeconds: number },
): Promise<void> {
  const { ready } = await broker.depth(syncQueue(type));
  if (disabled && ready > 0) return;
  const factor = ready > 0 ? nonEmptyQueueFactor : 1;
  const revived = await reviveLostEntries(db, type, lostAfterSeconds * factor);
  if (revived > 0) log.warn({ destinationType: type, revived }, 'lost messages were sent again');
}
