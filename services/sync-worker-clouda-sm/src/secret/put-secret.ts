import { randomUUID } from 'node:crypto';
import { Fault } from '@secrets/domain';
import type { PutRequest } from '@secrets/sync-worker';
import { hasCode } from '../api/fault-of.ts';
import type { Described } from '../api/schema.ts';
import { tagList } from '../api/secrets-manager-api.ts';
import { findSecret, requireOwnership, type Store } from './own-secret.ts';
import { fromDescribed, fromRemembered, reconcileReplicas } from './replicas.ts';
import { parseRemembered, type Remote, wantedTags } from './settings.ts';

/**
 * Reconciles the secret with the value and the destination's tags, key and replicas, with as few calls as can be: one
 * for a new value of a known secret, none for what has not changed.
 */
export async function putSecret(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remote> {
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

/** Create first: the provider decides whether the name is free, and a repeated create is the one that there was. */
async function createOrAdopt(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remote> {
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

async function create(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remote> {
  const { api, settings } = store;
  const tags = wantedTags(settings, store.prefix, store.destinationId);
  const { ARN, VersionId, ReplicationStatus } = await api.create(
    {
      Name: request.externalName,
      SecretString: request.value.reveal(),
      ClientRequestToken: request.idempotencyToken,
      Tags: tagList(tags),
      ...(settings.kms_key_id === '' ? {} : { KmsKeyId: settings.kms_key_id }),
    },
    signal,
  );
  await reconcileReplicas(store, ARN, fromDescribed(ReplicationStatus, []), signal);
  return remembered(store, request.externalName, ARN, VersionId);
}

/** A name is taken for a while after a deletion without recovery, and nothing of the secret can be seen. */
const deletionInProgress = (name: string): Fault =>
  new Fault('not_ready', `the name ${JSON.stringify(name)} is still taken by a secret that is being deleted`);

async function update(
  store: Store,
  request: PutRequest,
  known: Remote,
  signal: AbortSignal,
): Promise<Remote> {
  const version = request.valueChanged ? await putValue(store, request, known.arn, signal) : known.version;
  await reconcileTags(store, known.arn, { present: known.tags, ours: known.tags }, signal);
  await reconcileKey(store, known.arn, known.kmsKeyId, signal);
  await reconcileReplicas(store, known.arn, fromRemembered(known.replicas), signal);
  return remembered(store, request.externalName, known.arn, version);
}

async function inspect(
  store: Store,
  request: PutRequest,
  known: Remote,
  signal: AbortSignal,
): Promise<Remote> {
  const found = await findSecret(store, known.arn, signal);
  return found ? reconcile(store, request, { found, known }, signal) : createOrAdopt(store, request, signal);
}

/** Reconciles a secret that exists, in whatever state, with the request. */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known }: { found: Described; known: Remote | undefined },
  signal: AbortSignal,
): Promise<Remote> {
  requireOwnership(store, found, { knownArn: known?.arn, overwrite: request.overwrite });
  const arn = found.ARN;
  if (found.DeletedDate) await store.api.restore(arn, signal);
  const present = Object.fromEntries(found.Tags.map(({ Key, Value }) => [Key, Value]));
  await reconcileTags(store, arn, { present, ours: known?.tags ?? {} }, signal);
  const isHeld = known !== undefined && request.verify && (await holds(store, request, arn, signal));
  const version = isHeld ? known.version : await putValue(store, request, arn, signal);
  await reconcileKey(store, arn, known?.kmsKeyId || found.KmsKeyId || '', signal);
  await reconcileReplicas(store, arn, fromDescribed(found.ReplicationStatus, known?.replicas ?? []), signal);
  return remembered(store, request.externalName, arn, version);
}

/** Whether the secret has the value; what may not be read is taken to differ, and is written again. */
async function holds(
  { api }: Store,
  { value }: PutRequest,
  arn: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await api.value(arn, signal)) === value.reveal();
  } catch (error) {
    if (hasCode(error, 'AccessDeniedException', 'ResourceNotFoundException')) return false;
    throw error;
  }
}

/**
 * Writes the value as the current version. The token makes a repetition harmless; where the version of that token is
 * there but somebody has made another one current since, the value is written once more.
 */
async function putValue(
  { api }: Store,
  request: PutRequest,
  arn: string,
  signal: AbortSignal,
): Promise<string> {
  const write = (token: string) =>
    api.put({ SecretId: arn, SecretString: request.value.reveal(), ClientRequestToken: token }, signal);
  const written = await write(request.idempotencyToken);
  if (written.VersionStages?.includes('AWSCURRENT') !== false) return written.VersionId;
  return (await write(randomUUID())).VersionId;
}

/** Only tags that we set are taken away. */
async function reconcileTags(
  store: Store,
  arn: string,
  { present, ours }: { present: Record<string, string>; ours: Record<string, string> },
  signal: AbortSignal,
): Promise<void> {
  const wanted = wantedTags(store.settings, store.prefix, store.destinationId);
  const surplus = Object.keys(ours).filter(
    (key) => !Object.hasOwn(wanted, key) && Object.hasOwn(present, key),
  );
  if (surplus.length > 0) await store.api.untag(arn, surplus, signal);
  const missing = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  if (missing.length > 0) await store.api.tag(arn, Object.fromEntries(missing), signal);
}

/** A key that is no longer configured stays: there is none to go back to but the default, which is never sent. */
async function reconcileKey(
  { api, settings }: Store,
  arn: string,
  present: string,
  signal: AbortSignal,
): Promise<void> {
  if (settings.kms_key_id === '' || settings.kms_key_id === present) return;
  await api.changeKey(arn, settings.kms_key_id, signal);
}

function remembered(
  { settings, prefix, destinationId }: Store,
  name: string,
  arn: string,
  version: string,
): Remote {
  return {
    name,
    arn,
    version,
    tags: wantedTags(settings, prefix, destinationId),
    kmsKeyId: settings.kms_key_id,
    replicas: settings.replica_regions,
  };
}
