import { Fault } from '@secrets/domain';
import type { ReplicationStatus } from '../api/schema.ts';
import type { Store } from './store.ts';

/** What is known about a secret's replicas, as lists of regions. */
export interface PresentReplicas {
  /** All replicas, also those still in progress. */
  regions: readonly string[];
  /** Replicas known to be in sync. */
  finished: readonly string[];
  /** Replicas that the last put requested, and that this one may therefore remove. */
  ours: readonly string[];
}

/** The replicas in a description of the secret. */
export const fromDescribed = (status: ReplicationStatus, ours: readonly string[]): PresentReplicas => ({
  regions: regionsThat(status, (state) => state !== 'Failed'),
  finished: regionsThat(status, (state) => state === 'InSync'),
  ours,
});

/** The replicas as the last put left them. */
export const fromRemembered = (regions: readonly string[]): PresentReplicas => ({
  regions,
  finished: regions,
  ours: regions,
});

/**
 * Adds missing replicas, and removes those that the last put requested and the destination no longer lists. Throws
 * `Fault` `not_ready` while a replication is in progress, and `conflict` if a region has its own secret of that name.
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
 * The provider's response only says that a replication has begun. The secret is therefore described before the call,
 * because an attempt whose outcome was lost may have begun it, and afterwards. A failed replication is removed, so that
 * the next attempt starts over.
 */
async function addReplicas(
  { api }: Store,
  arn: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const readStatus = async () => (await api.describe(arn, signal)).ReplicationStatus;
  let status = await readStatus();
  const present = regionsThat(status, () => true);
  const missing = wanted.filter((region) => !present.includes(region));
  if (missing.length > 0) {
    await api.replicate(arn, missing, signal);
    status = await readStatus();
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
  const inProgress = wanted.filter((region) => !finished.includes(region));
  if (inProgress.length > 0)
    throw new Fault('not_ready', `the secret is still being replicated to ${inProgress.join(', ')}`);
}

const regionsThat = (status: ReplicationStatus, is: (state: string | undefined) => boolean): string[] =>
  status.filter(({ Status }) => is(Status)).map(({ Region }) => Region);
