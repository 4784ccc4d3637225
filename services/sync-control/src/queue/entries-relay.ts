import { type Broker, type Relay, startRelay } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import { claimDueEntries, markAnnounced, releaseDueEntries } from '@secrets/sync-entries';
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

/** The relay finishes one claim at a time, so all of `claimed` share its transaction ID. */
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
