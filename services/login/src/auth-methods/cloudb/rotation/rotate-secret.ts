import { randomUUID } from 'node:crypto';
import { invalid, Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import { hasClientSecret } from '../config/config-settings.ts';
import { encryptSecret } from '../config/secret-fields.ts';
import type { ListedPassword } from '../provider/graph/application-passwords.ts';
import type { MountClient } from '../provider/mount-client.ts';
import { findConfig } from '../queries/configs.ts';
import { insertAttempt, promotePending, storePending } from '../queries/rotations.ts';
import { decryptPending, encryptPending } from './pending-secret.ts';
import { passwordName, removeLeftovers } from './remove-leftovers.ts';
import { type Rotation, renewRotation, requireHeld } from './rotation-context.ts';
import { type Application, isUsedElsewhere } from './shared-application.ts';
import { discardIfHopeless, type FailedTrial, tryPending } from './try-pending.ts';

/**
 * Replaces the secret of a mount by a new password of its application, or continues a rotation that was interrupted.
 * Each step is recorded, so that a process may die at any point: the next run continues, and removes what is left over.
 * If the directory does not accept the new password yet, a later run continues, too.
 *
 * A pending password is finished before anything is removed: if the current secret has expired, it is the only one that
 * can remove anything.
 */
export async function rotateSecret(rotation: Rotation): Promise<void> {
  const { pendingKeyId } = await renewRotation(rotation);
  if (pendingKeyId === null) {
    await removeLeftovers(rotation);
    await addPassword(rotation);
  }
  const pending = await pendingOf(rotation);
  const trial = await tryPending(rotation, pending.secret);
  if (trial.result !== 'accepted') return postpone(rotation, trial);
  await promote(rotation, pending);
  await tryToRemoveReplaced(rotation);
}

async function postpone(rotation: Rotation, trial: FailedTrial): Promise<void> {
  await discardIfHopeless(rotation, trial);
  const reason =
    trial.result === 'refused'
      ? 'the directory does not accept the new password yet'
      : `the new password could not be tried: ${trial.problem.message}`;
  rotation.warn(`${reason}; the rotation continues in the background`);
}

/** The new secret is in use: a failure from here on is left to the background work. */
async function tryToRemoveReplaced(rotation: Rotation): Promise<void> {
  try {
    await removeLeftovers(rotation);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    rotation.warn(
      `the password that was replaced is not removed yet, which is tried again: ${error.message}`,
    );
  }
}

/**
 * Adds a password and stores it. Its name is recorded before, so that it is found if this process dies before its ID is
 * stored.
 */
async function addPassword(rotation: Rotation): Promise<void> {
  const { context, mount, lease } = rotation;
  const stored = await findConfig(context, mount.mountId);
  if (stored === undefined || !hasClientSecret(stored))
    throw invalid('the mount has no client_secret that could be rotated');
  const client = await context.clients.current(mount);
  const replacedKeyId = await currentKeyId(rotation, client);
  const attemptId = randomUUID();
  requireHeld(await insertAttempt(context.db, lease, attemptId));
  await renewRotation(rotation);
  const expiresAt = new Date(context.db.now() + stored.settings.root_password_ttl * 1_000);
  const { keyId, secret, expiresAt: actual } = await client.passwords.add(passwordName(attemptId), expiresAt);
  const sealedSecret = encryptPending(context.keyRing, mount.mountId, secret);
  const pending = { attemptId, keyId, expiresAt: actual, sealedSecret, replacedKeyId };
  requireHeld(await storePending(context.db, lease, pending));
}

/** The ID of the current secret's password: as recorded, or that of the only password that begins like the secret. */
async function currentKeyId(rotation: Rotation, { passwords, source }: MountClient): Promise<string | null> {
  const { currentKeyId: recorded } = await renewRotation(rotation);
  if (recorded !== null || source.kind !== 'secret') return recorded;
  const secret = source.secret.reveal();
  const alike = (await passwords.list()).filter((listed) => beginsLike(secret, listed));
  return alike.length === 1 ? alike[0]!.keyId : null;
}

const beginsLike = (secret: string, { hint }: ListedPassword): boolean =>
  typeof hint === 'string' && hint.length >= 3 && secret.startsWith(hint);

interface Pending {
  keyId: string;
  secret: Sealed<string>;
}

async function pendingOf(rotation: Rotation): Promise<Pending> {
  const { pendingKeyId, sealedPendingSecret } = await renewRotation(rotation);
  const { keyRing } = rotation.context;
  const sealed = requireHeld(sealedPendingSecret ?? undefined);
  return {
    keyId: requireHeld(pendingKeyId ?? undefined),
    secret: decryptPending(keyRing, rotation.mount.mountId, sealed),
  };
}

/** Makes the pending secret the current one, for the next login on every replica. */
async function promote(rotation: Rotation, { keyId, secret }: Pending): Promise<void> {
  const { context, mount, lease } = rotation;
  const sealedSecret = encryptSecret(context.keyRing, mount.mountId, 'client_secret', secret.reveal());
  const row = await renewRotation(rotation);
  const application = await applicationOf(rotation);
  const isKept = await changingMount(context, mount.mountId, async (tx) => {
    const isShared = row.currentKeyId === null && (await isUsedElsewhere(tx, mount.mountId, application));
    const retiredKeyId = isShared ? null : row.replacedKeyId;
    requireHeld(await promotePending(tx, lease, { keyId, sealedSecret, retiredKeyId }));
    return isShared;
  });
  context.providers.forget(mount.mountId);
  const { replacedKeyId } = row;
  context.log.info({ mountId: mount.mountId, keyId, replacedKeyId, isKept }, 'client_secret rotated');
  if (isKept) rotation.warn(sharedPassword);
  else if (replacedKeyId === null) rotation.warn(unknownPassword);
}

async function applicationOf({ context, mount }: Rotation): Promise<Application> {
  const { source } = await context.clients.current(mount);
  return { clientId: source.clientId, environment: context.clients.environment };
}

const unknownPassword =
  'the password that was replaced could not be identified and still exists; remove it from the application';
const sharedPassword =
  'the password that was replaced still exists, because another auth mount or the environment of login uses the same application; remove it from the application when nothing uses it any more';
