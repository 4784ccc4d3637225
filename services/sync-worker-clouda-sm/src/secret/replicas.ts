import { replicaKeys } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import type { ReplicationStatus } from '../api/schema.ts';
import { type Present, reconcileReplicaKeys } from './keys.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/** Known replicas of a secret. */
export interface PresentReplicas {
  /** All replicas, also those still in progress. */
  regions: readonly string[];
  /** Replicas known to be in sync. */
  finished: readonly string[];
  /** Replicas that the last put requested, and that this one may therefore remove. */
  ours: readonly string[];
  /** Keys by region. */
  keys: Readonly<Record<string, Present>>;
}

/** Replicas and their keys after the last put. */
type Before = Pick<Remembered, 'replicas' | 'replicaKeys'>;
const nothing: Before = { replicas: [], replicaKeys: {} };

/** The replicas in a description of the secret. */
export const fromDescribed = (
  status: ReplicationStatus,
  { replicas, replicaKeys }: Before = nothing,
): PresentReplicas => ({
  regions: regionsThat(status, (state) => state !== 'Failed'),
  finished: regionsThat(status, (state) => state === 'InSync'),
  ours: replicas,
  keys: Object.fromEntries(
    status.map(({ Region, KmsKeyId }) => [Region, { shown: KmsKeyId, ours: replicaKeys[Region] }]),
  ),
});

/** The replicas as the last put left them. */
export const fromRemembered = ({ replicas, replicaKeys }: Before): PresentReplicas => ({
  regions: replicas,
  finished: replicas,
  ours: replicas,
  keys: Object.fromEntries(
    replicas.map((region) => [region, { shown: replicaKeys[region], ours: replicaKeys[region] }]),
  ),
});

/**
 * Adds missing replicas, removes those that the last put requested and the destination no longer lists, and gives each its key.
 * Throws `Fault` `not_ready` while a replication is in progress, and `conflict` if a region has its own secret of that name.
 */
export async function reconcileReplicas(store: Store, arn: string, present: PresentReplicas): Promise<void> {
  const wanted = Object.keys(replicaKeys(store.settings));
  const surplus = present.ours.filter(
    (region) => !wanted.includes(region) && present.regions.includes(region),
  );
  if (surplus.length > 0) await store.api.removeReplicas(arn, surplus, store.signal);
  const unfinished = wanted.filter((region) => !present.finished.includes(region));
  const added = unfinished.length > 0 ? await addReplicas(store, arn, unfinished) : {};
  await reconcileReplicaKeys(store, arn, { ...present.keys, ...added });
}

/**
 * The provider's response only says that a replication has begun. The secret is therefore described before the call,
 * because an attempt whose outcome was lost may have begun it, and afterwards. A failed replication is removed, so that
 * the next attempt starts over. Returns the keys that the replicas have.
 */
async function addReplicas(
  { api, settings, signal }: Store,
  arn: string,
  wanted: readonly string[],
): Promise<PresentReplicas['keys']> {
  const readStatus = async () => (await api.describe(arn, signal)).ReplicationStatus;
  let status = await readStatus();
  const present = regionsThat(status, () => true);
  const missing = wanted.filter((region) => !present.includes(region));
  if (missing.length > 0) {
    const keysByRegion = replicaKeys(settings);
    const keys = missing.map((region) => [region, keysByRegion[region]]);
    await api.replicate(arn, Object.fromEntries(keys), signal);
    status = await readStatus();
  }
  const failed = status.filter(({ Region, Status }) => Status === 'Failed' && wanted.includes(Region));
  if (failed.length > 0) {
    const regions = failed.map(({ Region }) => Region);
    await api.removeReplicas(arn, regions, signal);
    throw replicationFault(regions, failed[0]?.StatusMessage);
  }
  requireFinished(status, wanted);
  return fromDescribed(status).keys;
}

/** Not documented beyond its purpose: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_ReplicationStatusType.html */
function replicationFault(regions: readonly string[], message = ''): Fault {
  const sentence = `the secret cannot be replicated to ${regions.join(', ')}`;
  if (/\bkms\b|\bkey\b|encrypt/i.test(message))
    return new Fault(
      'rejected',
      `${sentence}: the KMS key does not exist there, is not enabled or may not be used; check replica_regions and kms_key_id`,
      { mayPass: true },
    );
  return new Fault('conflict', `${sentence}; a secret of that name may exist there`);
}

function requireFinished(status: ReplicationStatus, wanted: readonly string[]): void {
  const finished = regionsThat(status, (state) => state === 'InSync');
  const inProgress = wanted.filter((region) => !finished.includes(region));
  if (inProgress.length > 0)
    throw new Fault('not_ready', `the secret is still being replicated to ${inProgress.join(', ')}`);
}

const regionsThat = (status: ReplicationStatus, is: (state: string | undefined) => boolean): string[] =>
  status.filter(({ Status }) => is(Status)).map(({ Region }) => Region);
