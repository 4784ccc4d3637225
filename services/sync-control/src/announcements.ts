import { type Broker, type Relay, startRelay } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncQueue } from '@secrets/domain';
import {
  markAnnounced,
  putBackEntries,
  readSyncConfig,
  reviveLostEntries,
  takeDueEntries,
} from '@secrets/sync-entries';
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
    done: (taken) => ofOneTurn(taken, (ids, leasedUntil) => markAnnounced(db, ids, leasedUntil)),
    failed: (taken) => ofOneTurn(taken, (ids, leasedUntil) => putBackEntries(db, ids, leasedUntil)),
  });
}

/** What was taken in one turn is held until one moment. */
async function ofOneTurn(
  taken: readonly Taken[],
  work: (entryIds: string[], leasedUntil: Date) => Promise<void>,
): Promise<void> {
  const [first] = taken;
  if (first === undefined) return;
  await work(
    taken.map(({ entryId }) => entryId),
    first.leasedUntil,
  );
}

/** How many times longer a message is believed to wait in a queue that is not empty. */
const patienceWithQueue = 15;

/**
 * The sweep: an entry that was announced and not claimed for `lostAfterSeconds`, while its queue is empty, has lost its
 * message. While messages wait it may simply be among them; so it is only believed lost after a multiple of that, since
 * a queue that is never empty must not keep it for ever. While syncing is disabled, everything waits.
 */
export async function sweepLostEntries(
  { db, broker, log }: { db: Db; broker: Broker; log: Logger },
  lostAfterSeconds: number,
): Promise<void> {
  const { disabled } = await readSyncConfig(db);
  for (const type of Object.keys(destinationTypes)) {
    const { ready } = await broker.depth(syncQueue(type));
    if (disabled && ready > 0) continue;
    const revived = await reviveLostEntries(db, type, lostAfterSeconds * (ready > 0 ? patienceWithQueue : 1));
    if (revived > 0)
      log.warn({ destinationType: type, revived }, 'announcements of entries were lost and are repeated');
  }
}
