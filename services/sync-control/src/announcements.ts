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

/** An entry that was taken, and the turn in which it was. */
interface Taken {
  entryId: string;
  taking: string;
}

/** The relay: tells the workers' queues of entries that are due. Safe to run in several processes. */
export function startAnnouncing(db: Db, broker: Broker, log: Logger): Relay {
  return startRelay<Taken>({
    name: 'sync.entries',
    broker,
    log,
    idleMs: 250,
    take: async (limit) => {
      const { entries, taking } = await takeDueEntries(db, limit);
      return entries.map(({ destinationType, message }) => ({
        id: { entryId: message.entry_id, taking },
        queue: syncQueue(destinationType),
        message,
      }));
    },
    done: (taken) => ofOneTurn(taken, (ids, taking) => markAnnounced(db, ids, taking)),
    failed: (taken) => ofOneTurn(taken, (ids, taking) => putBackEntries(db, ids, taking)),
  });
}

/** The relay ends what it took turn by turn. */
async function ofOneTurn(
  taken: readonly Taken[],
  work: (entryIds: string[], taking: string) => Promise<void>,
): Promise<void> {
  const [first] = taken;
  if (first === undefined) return;
  await work(
    taken.map(({ entryId }) => entryId),
    first.taking,
  );
}

/** In a queue that is not empty, a message counts as lost only after this multiple of `lostAfterSeconds`. */
const nonEmptyQueueFactor = 15;

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
    const revived = await reviveLostEntries(
      db,
      type,
      lostAfterSeconds * (ready > 0 ? nonEmptyQueueFactor : 1),
    );
    if (revived > 0)
      log.warn({ destinationType: type, revived }, 'announcements of entries were lost and are repeated');
  }
}
