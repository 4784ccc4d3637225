import { Fault } from '@secrets/domain';
import { hasCode, type RemoveRequest, releasedTag } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import { isOwn } from './ownership.ts';
import { parseRemembered } from './remembered.ts';
import { findSecret, type Store } from './store.ts';

/**
 * Deletes the secret if it belongs to the destination. It is looked up by its name even if its ARN is known: a put
 * whose outcome was lost may have created another secret under that name. The one that is known is deleted too, because
 * the description may be older than it.
 */
export async function removeSecret(store: Store, request: RemoveRequest): Promise<void> {
  await store.account.require(store.signal);
  const known = parseRemembered(store, request);
  const days = windowDays(store, request);
  const found = await findSecret(store, request.externalName);
  if (found && (!found.DeletedDate || found.ARN === known?.arn) && isOwn(store, found, known?.arn))
    await remove(store, found, days);
  if (known && found?.ARN !== known.arn) await remove(store, { ARN: known.arn, ReplicationStatus: [] }, days);
}

type Doomed = Pick<Described, 'ARN' | 'ReplicationStatus' | 'DeletedDate'>;

/** The shortest window of the provider: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DeleteSecret.html */
const shortestWindowDays = 7;

/** Days in which a removed secret can be recovered; 0 for none. */
const windowDays = ({ settings }: Store, { isRecoverable = false }: RemoveRequest): number =>
  settings.recovery_window_days === 0 && isRecoverable ? shortestWindowDays : settings.recovery_window_days;

async function remove(store: Store, secret: Doomed, days: number): Promise<void> {
  const { ARN: arn, ReplicationStatus } = secret;
  const replicas = ReplicationStatus.map(({ Region }) => Region);
  if (replicas.length > 0) await store.api.removeReplicas(arn, replicas, store.signal);
  if (days > 0) await release(store, arn);
  await deleteSecret(store, secret, days);
}

/**
 * The tags of a deleted secret cannot be changed, so it is released before. Whether it is deleted already is left to
 * the deletion. Credentials that may not do so can still delete it.
 */
async function release({ api, owner, signal }: Store, arn: string): Promise<void> {
  try {
    await api.tag(arn, releasedTag(owner), signal);
  } catch (error) {
    const isForbidden = error instanceof Fault && error.kind === 'forbidden';
    if (!isForbidden && !hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException')) throw error;
  }
}

/**
 * Nothing is left to do if the secret is scheduled for deletion. If the description does not show that, replicas may be
 * in the way.
 */
async function deleteSecret(
  { api, signal }: Store,
  { ARN, DeletedDate }: Doomed,
  days: number,
): Promise<void> {
  const manner = days === 0 ? { ForceDeleteWithoutRecovery: true } : { RecoveryWindowInDays: days };
  try {
    await api.delete({ SecretId: ARN, ...manner }, signal);
  } catch (error) {
    if (hasCode(error, 'ResourceNotFoundException')) return;
    if (!hasCode(error, 'InvalidRequestException')) throw error;
    if (DeletedDate) return;
    throw new Fault('not_ready', 'the secret or its replicas are still being removed');
  }
}
