import { Fault } from '@secrets/domain';
import type { Store } from './own-secret.ts';
import type { ReplicationStatus } from './schema.ts';

/** What is known of a secret's replicas: where they are, and where we put them. */
export interface PresentReplicas {
  regions: readonly string[];
  ours: readonly string[];
}

/** Regions that a status names, without those where replication failed. */
export const mirroredIn = (status: ReplicationStatus): string[] =>
  status.filter(({ Status }) => Status !== 'Failed').map(({ Region }) => Region);

/**
 * Adds the replicas that are missing and removes those that we added and the destination no longer names. Throws
 * `Fault` `conflict` when a region has a secret of that name of its own.
 */
export async function bringReplicas(
  store: Store,
  arn: string,
  present: PresentReplicas,
  signal: AbortSignal,
): Promise<void> {
  const { api, settings } = store;
  const wanted = settings.replica_regions;
  const surplus = present.ours.filter(
    (region) => !wanted.includes(region) && present.regions.includes(region),
  );
  if (surplus.length > 0) await api.removeReplicas(arn, surplus, signal);
  const missing = wanted.filter((region) => !present.regions.includes(region));
  if (missing.length === 0) return;
  const { ReplicationStatus } = await api.replicate(arn, missing, signal);
  const failed = ReplicationStatus.filter(
    ({ Region, Status }) => missing.includes(Region) && Status === 'Failed',
  );
  if (failed.length === 0) return;
  const regions = failed.map(({ Region }) => Region).join(', ');
  throw new Fault(
    'conflict',
    `the secret cannot be replicated to ${regions}; a secret of that name may exist there`,
  );
}
