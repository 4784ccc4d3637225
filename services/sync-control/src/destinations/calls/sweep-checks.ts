import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import { readSyncConfig } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import {
  claimLeftProbes,
  deleteChecks,
  deleteOldChecks,
  type LeftProbeRow,
} from '../../queries/destinations/destination-checks.ts';
import { deleteOldStoreReads } from '../../queries/destinations/store-reads.ts';

const pageSize = 100;

/** After as many requests, which take six days, the probe is given up. */
const maxRemovals = 16;

/**
 * Requests the removal of probes that checks have left behind, because their worker died or the destination refused it,
 * and deletes old checks and reads of stores. The removal of a probe is requested less and less often, and given up after
 * 16 requests that a worker could receive. Returns the number of requested removals. To be repeated every minute or so; safe
 * in several processes.
 */
export async function sweepChecks({
  db,
  broker,
  log,
}: {
  db: Db;
  broker: Pick<Broker, 'publish'>;
  log: Logger;
}): Promise<number> {
  await deleteOldChecks(db, pageSize);
  await deleteOldStoreReads(db, pageSize);
  if ((await readSyncConfig(db)).stoppedBecause !== null) return 0;
  const left = await claimLeftProbes(db, pageSize);
  await giveUp(
    { db, log },
    left.filter(({ removals }) => removals > maxRemovals),
  );
  const requested = left.filter(({ hasWorker, removals }) => hasWorker && removals <= maxRemovals);
  const byType = Map.groupBy(requested, ({ destinationType }) => destinationType);
  for (const [type, probes] of byType)
    await broker.publish(
      syncQueue(type),
      probes.map(({ checkId, destinationId }) => ({ check_id: checkId, destination_id: destinationId })),
    );
  return requested.length;
}

async function giveUp({ db, log }: { db: Db; log: Logger }, probes: readonly LeftProbeRow[]): Promise<void> {
  if (probes.length === 0) return;
  for (const { destinationId, externalName } of probes)
    log.warn(
      { destinationId, externalName, requests: maxRemovals },
      'the probe of a check could not be removed; giving up',
    );
  await deleteChecks(
    db,
    probes.map(({ checkId }) => checkId),
  );
}
