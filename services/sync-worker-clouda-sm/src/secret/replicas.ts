import { Fault } from '@secrets/domain';
import type { ReplicationStatus } from '../api/schema.ts';
import type { Store } from './own-secret.ts';

/** What is known of a secret's replicas. */
export interface PresentReplicas {
  /** Where they are, finished or not. */
  regions: readonly string[];
  /** Where they are known to be finished. */
  finished: readonly string[];
  /** Where we put them. */
  ours: readonly string[];
}

/** Of a secret that somebody has described. */
export const fromDescribed = (status: ReplicationStatus, ours: readonly string[]): PresentReplicas => ({
  regions: regionsThat(status, (state) => state !== 'Failed'),
  finished: regionsThat(status, (state) => state === 'InSync'),
  ours,
});

/** Of a secret as the last put left it. */
export const fromRemembered = (regions: readonly string[]): PresentReplicas => ({
  regions,
  finished: regions,
  ours: regions,
});

/**
 * Adds the replicas that are missing and removes those that we added and the destination no longer names. Throws
 * `Fault` `not_ready` while one is being made, and `conflict` when a region has a secret of that name of its own.
 */
export async function reconcileReplicas(
  store: Store,
  arn: string,
  present: PresentReplicas,
  signal: AbortSignal,
): Promise<void> {
  const wanted = store.settings.replica_regions;
  const surplus = present.ours.filter(
    (region) => !wanted.includes(region) && present.regions.includes(region),
  );
  if (surplus.length > 0) await store.api.removeReplicas(arn, surplus, signal);
  const unfinished = wanted.filter((region) => !present.finished.includes(region));
  if (unfinished.length > 0) await addReplicas(store, arn, unfinished, signal);
}

/**
 * The provider's answer only says that a replication has begun, so it is looked at before, since an attempt whose
 * outcome was lost may have begun it, and after. One that failed is taken back, so that the next attempt begins anew.
 */
async function addReplicas(
  { api }: Store,
  arn: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const look = async () => (await api.describe(arn, signal)).ReplicationStatus;
  let status = await look();
  const present = regionsThat(status, () => true);
  const missing = wanted.filter((region) => !present.includes(region));
  if (missing.length > 0) {
    await api.replicate(arn, missing, signal);
    status = await look();
  }
  const failed = regionsThat(status, (state) => state === 'Failed').filter((region) =>
    wanted.includes(region),
  );
  if (failed.length > 0) await api.removeReplicas(arn, failed, signal);
  requireFinished(status, { wanted, failed });
}

function requireFinished(
  status: ReplicationStatus,
  { wanted, failed }: { wanted: readonly string[]; failed: readonly string[] },
): void {
  if (failed.length > 0)
    throw new Fault(
      'conflict',
      `the secret cannot be replicated to ${failed.join(', ')}; a secret of that name may exist there`,
    );
  const finished = regionsThat(status, (state) => state === 'InSync');
  const underWay = wanted.filter((region) => !finished.includes(region));
  if (underWay.length > 0)
    throw new Fault('not_ready', `the secret is still being replicated to ${underWay.join(', ')}`);
}

const regionsThat = (status: ReplicationStatus, is: (state: string | undefined) => boolean): string[] =>
  status.filter(({ Status }) => is(Status)).map(({ Region }) => Region);
