import { type Broker, type Relay, startRelay } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { syncQueue } from '@secrets/domain';
import {
  claimDueEntries,
  markAnnounced,
  readSyncConfig,
  releaseDueEntries,
  reviveLostEntries,
} from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';

/** A claimed entry and the transaction that claimed it. */
interface ClaimedId {
  entryId: string;
  claimXid: string;
}

/** Starts the relay that publishes due entries to the workers' queues. Safe to run in several processes. */
export function startEntriesRelay(db: Db, broker: Broker, log: Logger): Relay {
  return startRelay<ClaimedId>({
    name: 'sync.entries',
    broker,
    log,
    idleMs: 250,
    take: async (limit) => {
      const { entries, claimXid } = await claimDueEntries(db, limit);
      return entries.map(({ destinationType, message }) => ({
        id: { entryId: message.entry_id, claimXid },
        queue: syncQueue(destinationType),
        message,
      }));
    },
    done: (claimed) => withClaimXid(claimed, (ids, claimXid) => markAnnounced(db, ids, claimXid)),
    failed: (claimed) => withClaimXid(claimed, (ids, claimXid) => releaseDueEntries(db, ids, claimXid)),
  });
}

/** The relay finishes one claim at a time, so all of `claimed` share its transaction id. */
async function withClaimXid(
  claimed: readonly ClaimedId[],
  work: (entryIds: string[], claimXid: string) => Promise<void>,
): Promise<void> {
  const [first] = claimed;
  if (first === undefined) return;
  await work(
    claimed.map(({ entryId }) => entryId),
    first.claimXid,
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
