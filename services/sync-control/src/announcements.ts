import { type Broker, type Relay, startRelay } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncQueue } from '@secrets/domain';
import { markAnnounced, reviveLostEntries, takeDueEntries } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

/** Which entries were taken, and until when they are this relay's. */
interface Taken {
  entryId: string;
  leasedUntil: Date;
}

/** The relay: tells the workers' queues of entries that are due. Safe to run in several processes. */
export function startAnnouncing(db: Db, broker: Broker, log: Logger): Relay {
  return startRelay<Taken>({
    name: 'sync.entries',
    broker,
    log,
    idleMs: 250,
    take: async (limit) => {
      const { entries, leasedUntil } = await takeDueEntries(db, limit);
      return entries.map(({ destinationType, message }) => ({
        id: { entryId: message.entry_id, leasedUntil },
        queue: syncQueue(destinationType),
        message,
      }));
    },
    done: async (taken) => {
      const [first] = taken;
      if (first !== undefined)
        await markAnnounced(
          db,
          taken.map(({ entryId }) => entryId),
          first.leasedUntil,
        );
    },
  });
}

const lostAfterSeconds = 60;

/**
 * The sweep: an entry that was announced and never claimed, while its queue is empty, has lost its message. While
 * messages wait it may simply be among them.
 */
export async function sweepLostEntries(db: Db, broker: Broker, log: Logger): Promise<void> {
  for (const type of Object.keys(destinationTypes)) {
    const { ready } = await broker.depth(syncQueue(type));
    if (ready > 0) continue;
    const revived = await reviveLostEntries(db, type, lostAfterSeconds);
    if (revived > 0)
      log.warn({ destinationType: type, revived }, 'announcements of entries were lost and are repeated');
  }
}
