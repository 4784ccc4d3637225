import { Fault } from '@secrets/domain';
import { hasCode, type RemoveRequest, releasedTag } from '@secrets/sync-worker';
import { isOwn } from './ownership.ts';
import { parseRemembered } from './remembered.ts';
import { findSecret, type Store } from './store.ts';

/**
 * Deletes the secret if it belongs to the destination. It is looked up by its name even if its ARN is known: a put whose
 * outcome was lost may have created another secret under that name.
 */
export async function removeSecret(store: Store, request: RemoveRequest, signal: AbortSignal): Promise<void> {
  const found = await findSecret(store, request.externalName, signal);
  if (!found || found.DeletedDate || !isOwn(store, found, parseRemembered(request)?.arn)) return;
  const replicas = found.ReplicationStatus.map(({ Region }) => Region);
  if (replicas.length > 0) await store.api.removeReplicas(found.ARN, replicas, signal);
  if (store.settings.recovery_window_days > 0) await release(store, found.ARN, signal);
  await deleteSecret(store, found.ARN, replicas.length > 0, signal);
}

/** The tags of a deleted secret cannot be changed, so it is released before. Credentials that may not do so can still delete it. */
async function release({ api, owner }: Store, arn: string, signal: AbortSignal): Promise<void> {
  try {
    await api.tag(arn, releasedTag(owner), signal);
  } catch (error) {
    const isForbidden = error instanceof Fault && error.kind === 'forbidden';
    if (!isForbidden && !hasCode(error, 'ResourceNotFoundException')) throw error;
  }
}

async function deleteSecret(
  { api, settings }: Store,
  arn: string,
  hadReplicas: boolean,
  signal: AbortSignal,
): Promise<void> {
  const days = settings.recovery_window_days;
  const manner = days === 0 ? { ForceDeleteWithoutRecovery: true } : { RecoveryWindowInDays: days };
  try {
    await api.delete({ SecretId: arn, ...manner }, signal);
  } catch (error) {
    if (hasCode(error, 'ResourceNotFoundException')) return;
    if (!hadReplicas || !hasCode(error, 'InvalidRequestException')) throw error;
    throw new Fault('not_ready', 'the replicas of the secret are still being removed');
  }
}
