import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import { readSyncConfig } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import { claimLeftProbes, deleteChecks, deleteOldChecks } from '../queries/destination-checks.ts';

const pageSize = 100;

/**
 * Requests the removal of probes that checks have left behind, because their worker died or the destination refused it, and deletes
 * checks that nobody needs any longer. A probe that cannot be removed is requested less and less often, and given up after a
 * week. To be repeated every minute or so; safe in several processes.
 */
export async function sweepChecks({
  db,
  broker,
  log,
}: {
  db: Db;
  broker: Pick<Broker, 'publish'>;
  log: Logger;
}): Promise<void> {
  await deleteOldChecks(db, pageSize);
  if ((await readSyncConfig(db)).disabled) return;
  const left = await claimLeftProbes(db, pageSize);
  const old = left.filter(({ isOld }) => isOld);
  for (const { destinationId, externalName } of old)
    log.warn(
      { destinationId, externalName },
      'the probe of a check could not be removed for a week; giving up',
    );
  if (old.length > 0)
    await deleteChecks(
      db,
      old.map(({ checkId }) => checkId),
    );
  const byType = Map.groupBy(
    left.filter(({ isOld }) => !isOld),
    ({ destinationType }) => destinationType,
  );
  for (const [type, probes] of byType)
    await broker.publish(
      syncQueue(type),
      probes.map(({ checkId, destinationId }) => ({ check_id: checkId, destination_id: destinationId })),
    );
}
