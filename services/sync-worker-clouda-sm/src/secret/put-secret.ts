import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest, tagsOf } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import { tagList } from '../api/secrets-manager-api.ts';
import { requireOwnership } from './ownership.ts';
import { parseRemembered, type Remembered, remember } from './remembered.ts';
import { fromDescribed, fromRemembered, reconcileReplicas } from './replicas.ts';
import { hasValue, putValue, reconcileKey, reconcileTags } from './secret-parts.ts';
import { findSecret, type Store, tagsIn } from './store.ts';

/**
 * Reconciles the secret with the value and with the destination's tags, key and replicas, in as few calls as possible:
 * one for a new value of a known secret, and none if nothing changed.
 */
export async function putSecret(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const known = parseRemembered(request);
  if (!known) return createOrAdopt(store, request, signal);
  if (request.verify) return inspect(store, request, known, signal);
  try {
    return await update(store, request, known, signal);
  } catch (error) {
    if (!hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException')) throw error;
    const found = await findSecret(store, known.arn, signal);
    if (found && !found.DeletedDate) throw error;
    return found
      ? reconcile(store, request, { found, known }, signal)
      : createOrAdopt(store, request, signal);
  }
}

/** Creates first, so that the provider decides whether the name is free. A repeated create has the same token. */
async function createOrAdopt(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  try {
    return await create(store, request, signal);
  } catch (error) {
    if (!hasCode(error, 'ResourceExistsException', 'InvalidRequestException')) throw error;
    const found = await findSecret(store, request.externalName, signal);
    if (!found) throw deletionInProgress(request.externalName);
    if (!found.DeletedDate && hasCode(error, 'InvalidRequestException')) throw error;
    return reconcile(store, request, { found, known: undefined }, signal);
  }
}

async function create(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const { api, settings } = store;
  const { ARN, VersionId, ReplicationStatus } = await api.create(
    {
      Name: request.externalName,
      SecretString: request.value.reveal(),
      ClientRequestToken: request.idempotencyToken,
      Tags: tagList(tagsOf(settings.custom_tags, store.owner)),
      ...(settings.kms_key_id === '' ? {} : { KmsKeyId: settings.kms_key_id }),
    },
    signal,
  );
  await reconcileReplicas(store, ARN, fromDescribed(ReplicationStatus, []), signal);
  return remember(store, request.externalName, { arn: ARN, version: VersionId });
}

/** After an immediate deletion, the name stays in use for a while although the secret cannot be described. */
const deletionInProgress = (name: string): Fault =>
  new Fault(
    'not_ready',
    `the name ${JSON.stringify(name)} is still in use by a secret that is being deleted`,
  );

async function update(
  store: Store,
  request: PutRequest,
  known: Remembered,
  signal: AbortSignal,
): Promise<Remembered> {
  const version = request.valueChanged ? await putValue(store, request, known.arn, signal) : known.version;
  await reconcileTags(store, known.arn, { present: known.tags, ours: known.tags }, signal);
  await reconcileKey(store, known.arn, known.kmsKeyId, signal);
  await reconcileReplicas(store, known.arn, fromRemembered(known.replicas), signal);
  return remember(store, request.externalName, { arn: known.arn, version });
}

async function inspect(
  store: Store,
  request: PutRequest,
  known: Remembered,
  signal: AbortSignal,
): Promise<Remembered> {
  const found = await findSecret(store, known.arn, signal);
  return found ? reconcile(store, request, { found, known }, signal) : createOrAdopt(store, request, signal);
}

/** Reconciles an existing secret, also one scheduled for deletion, with the request. */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known }: { found: Described; known: Remembered | undefined },
  signal: AbortSignal,
): Promise<Remembered> {
  requireOwnership(store, found, { rememberedArn: known?.arn, overwrite: request.overwrite });
  const arn = found.ARN;
  if (found.DeletedDate) await store.api.restore(arn, signal);
  await reconcileTags(store, arn, { present: tagsIn(found), ours: known?.tags ?? {} }, signal);
  const isCurrent = known !== undefined && request.verify && (await hasValue(store, request, arn, signal));
  const version = isCurrent ? known.version : await putValue(store, request, arn, signal);
  await reconcileKey(store, arn, known?.kmsKeyId || found.KmsKeyId || '', signal);
  await reconcileReplicas(store, arn, fromDescribed(found.ReplicationStatus, known?.replicas ?? []), signal);
  return remember(store, request.externalName, { arn, version });
}
