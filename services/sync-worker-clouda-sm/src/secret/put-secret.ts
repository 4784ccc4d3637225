import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@secrets/domain';
import { hasCode, isEqualValue, type PutRequest, tagsOf } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import { tagList } from '../api/secrets-manager-api.ts';
import { creationAttributes, reconcileAttributes } from './attributes.ts';
import { currentVersion } from './inspect-secret.ts';
import { requireOwnership } from './ownership.ts';
import { parseRemembered, type Remembered, remember } from './remembered.ts';
import { fromDescribed, fromRemembered, reconcileReplicas } from './replicas.ts';
import { isCurrent, putValue, reconcileTags } from './secret-parts.ts';
import { findSecret, type Store, tagsIn } from './store.ts';

/**
 * Reconciles the secret with the value and with the destination's tags, key and replicas. A known secret is described before
 * each write, because the responses to writes show none of these, and somebody else may have changed them, or the value. The
 * quota of descriptions is separate and hundreds of times that of writes
 * (https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html).
 */
export async function putSecret(store: Store, request: PutRequest): Promise<Remembered> {
  await store.account.require(store.signal);
  const known = parseRemembered(store, request);
  if (!known) return createOrAdopt(store, request, known);
  const isSettled = !request.verify && !request.valueChanged && isUpToDate(store, known);
  return isSettled ? known : inspect(store, request, known);
}

/** Whether the last put has set everything that the destination now says. */
const isUpToDate = (store: Store, known: Remembered): boolean =>
  isDeepStrictEqual(known, remember(store, known.name, known));

/** A write to the ARN shows whether the secret still exists: a description may be older. */
async function updateKnown(store: Store, request: PutRequest, known: Remembered): Promise<Remembered> {
  try {
    return await update(store, request, known);
  } catch (error) {
    if (!hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException')) throw error;
    const found = hasCode(error, 'InvalidRequestException') ? await findSecret(store, known.arn) : undefined;
    return found
      ? reconcile(store, request, { found, known, isDeleted: true })
      : createOrAdopt(store, request, known);
  }
}

/**
 * Creates first, so that the provider decides whether the name is free. A repeated create has the same token. If a
 * secret is scheduled for deletion, the create says so, and the description may not show it yet.
 */
async function createOrAdopt(
  store: Store,
  request: PutRequest,
  known: Remembered | undefined,
): Promise<Remembered> {
  try {
    return await create(store, request);
  } catch (error) {
    if (!hasCode(error, 'ResourceExistsException', 'InvalidRequestException')) throw error;
    const found = await findSecret(store, request.externalName);
    if (!found) throw deletionInProgress(request.externalName);
    const isDeleted = hasCode(error, 'InvalidRequestException');
    return reconcile(store, request, { found, known, isDeleted });
  }
}

async function create(store: Store, request: PutRequest): Promise<Remembered> {
  const { api, account, settings, signal } = store;
  const parts = {
    Tags: tagList(tagsOf(settings.custom_tags, store.owner)),
    ...creationAttributes(settings),
  };
  const { ARN, VersionId, ReplicationStatus } = await api.create(
    {
      Name: request.externalName,
      SecretString: request.value.reveal(),
      ClientRequestToken: creationToken(request, parts),
      ...parts,
    },
    signal,
  );
  await account.requireArn(ARN).catch(async (error: unknown) => {
    await api.delete({ SecretId: ARN, ForceDeleteWithoutRecovery: true }, signal);
    throw error;
  });
  await reconcileReplicas(store, ARN, fromDescribed(ReplicationStatus));
  return remember(store, request.externalName, { arn: ARN, version: VersionId });
}

/**
 * A repeated create changes nothing, and its response does not show tags and attributes. With other ones, it is therefore
 * another create, which is refused if the secret exists.
 */
const creationToken = ({ idempotencyToken }: PutRequest, parts: object): string =>
  createHash('sha256')
    .update(JSON.stringify([idempotencyToken, parts]))
    .digest('hex');

/** After an immediate deletion, the name stays in use for a while although the secret cannot be described. */
const deletionInProgress = (name: string): Fault =>
  new Fault(
    'not_ready',
    `the name ${JSON.stringify(name)} is still in use by a secret that is being deleted`,
  );

async function update(store: Store, request: PutRequest, known: Remembered): Promise<Remembered> {
  const version = await putValue(store, request, known.arn);
  await reconcileTags(store, known.arn, { present: known.tags, ours: known.tags });
  await reconcileAttributes(store, known.arn, { ours: known.attributes });
  await reconcileReplicas(store, known.arn, fromRemembered(known));
  return remember(store, request.externalName, { arn: known.arn, version });
}

/** A description that does not show the secret may be older than it is. */
async function inspect(store: Store, request: PutRequest, known: Remembered): Promise<Remembered> {
  const found = await findSecret(store, known.arn);
  return found
    ? reconcile(store, request, { found, known, isDeleted: false })
    : updateKnown(store, request, known);
}

interface Adopted {
  found: Described;
  /** What the last put stored; it may have been about an earlier secret of the name. */
  known: Remembered | undefined;
  /** Whether a write has shown that it may be scheduled for deletion. */
  isDeleted: boolean;
}

/** Reconciles an existing secret, also one scheduled for deletion, with the request. */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known, isDeleted }: Adopted,
): Promise<Remembered> {
  requireOwnership(store, found, { rememberedArn: known?.arn, overwrite: request.overwrite });
  const same = known?.arn === found.ARN ? known : undefined;
  try {
    if (isDeleted || found.DeletedDate) await store.api.restore(found.ARN, store.signal);
    return await reconcileParts(store, request, { found, known: same });
  } catch (error) {
    if (!hasCode(error, 'ResourceNotFoundException')) throw error;
    throw deletionInProgress(request.externalName); // the description is older than the deletion
  }
}

async function reconcileParts(
  store: Store,
  request: PutRequest,
  { found, known }: Pick<Adopted, 'found' | 'known'>,
): Promise<Remembered> {
  const arn = found.ARN;
  await reconcileTags(store, arn, { present: tagsIn(found), ours: known?.tags ?? {} });
  const kept =
    known === undefined ? await equalVersion(store, request, found) : keptVersion(request, found, known);
  const version = kept ?? (await putValue(store, request, arn));
  await reconcileAttributes(store, arn, { found, ours: known?.attributes });
  await reconcileReplicas(store, arn, fromDescribed(found.ReplicationStatus, known));
  return remember(store, request.externalName, { arn, version });
}

const keptVersion = (
  { valueChanged }: PutRequest,
  found: Described,
  known: Remembered,
): string | undefined => (!valueChanged && isCurrent(found, known) ? known.version : undefined);

/**
 * Returns the current version of a secret that is taken over, if it has the value already: then nothing is written that its
 * readers would notice. Credentials that may not read values write it.
 */
async function equalVersion(
  { api, signal }: Store,
  { value }: PutRequest,
  found: Described,
): Promise<string | undefined> {
  const version = currentVersion(found);
  if (version === '') return undefined;
  try {
    const { SecretString: text } = await api.read(found.ARN, version, signal);
    return text !== undefined && isEqualValue(text, value) ? version : undefined;
  } catch (error) {
    const isForbidden = error instanceof Fault && error.kind === 'forbidden';
    if (isForbidden || hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException'))
      return undefined;
    throw error;
  }
}
