import { deleteAttempt, deleteOldAttempts, forgetRemoved, listAttempts } from '../queries/rotations.ts';
import { type Rotation, renewRotation } from './rotation-context.ts';

/** The name of the password that an attempt adds. */
export const passwordName = (attemptId: string): string => `secrets-service rotation ${attemptId}`;

/**
 * Removes the passwords that earlier rotations replaced or gave up, by their recorded IDs, and those that died before
 * their ID was recorded, by their names. Removes no other password. Each is forgotten once it is removed.
 */
export async function removeLeftovers(rotation: Rotation): Promise<void> {
  await removeRecorded(rotation);
  const { context, mount } = rotation;
  const attempts = await listAttempts(context.db, mount.mountId);
  if (attempts.length > 0) await removeUnrecorded(rotation, attempts);
}

async function removeRecorded(rotation: Rotation): Promise<void> {
  const { context, mount, lease } = rotation;
  const { retiredKeyId, discardedKeyIds, currentKeyId } = await renewRotation(rotation);
  const keyIds = [...(retiredKeyId === null ? [] : [retiredKeyId]), ...discardedKeyIds];
  for (const keyId of keyIds.filter((id) => id !== currentKeyId)) {
    const { passwords } = await context.clients.current(mount);
    await renewRotation(rotation);
    await passwords.remove(keyId);
    await forgetRemoved(context.db, lease, keyId);
  }
}

async function removeUnrecorded(rotation: Rotation, attempts: readonly string[]): Promise<void> {
  const { context, mount } = rotation;
  const { passwords } = await context.clients.current(mount);
  const listed = await passwords.list();
  for (const attempt of attempts) {
    const left = listed.filter(({ displayName }) => displayName === passwordName(attempt));
    for (const { keyId } of left) {
      const { currentKeyId, pendingKeyId } = await renewRotation(rotation);
      if (keyId !== currentKeyId && keyId !== pendingKeyId) await passwords.remove(keyId);
    }
    if (left.length > 0) await deleteAttempt(context.db, attempt);
  }
  await deleteOldAttempts(context.db, mount.mountId); // what is not listed by now does not exist
}
