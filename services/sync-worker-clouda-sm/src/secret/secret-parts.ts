import { randomUUID } from 'node:crypto';
import { hasCode, type PutRequest, tagChanges, tagsOf } from '@secrets/sync-worker';
import type { Store } from './store.ts';

/**
 * Writes the value as the current version and returns the version's ID. The idempotency token makes a repeated put
 * harmless. If the token's version exists but is no longer the current one, the value is written again under a new token.
 */
export async function putValue(
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

/** Whether the secret has the value. If it may not be read, the answer is no, and the value is written again. */
export async function hasValue(
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

/** Sets the tags that are missing, and removes those that the last put set and the destination no longer has. */
export async function reconcileTags(
  { api, settings, owner }: Store,
  arn: string,
  { present, ours }: { present: Record<string, string>; ours: Record<string, string> },
  signal: AbortSignal,
): Promise<void> {
  const wanted = tagsOf(settings.custom_tags, owner);
  const { missing, surplus } = tagChanges({ wanted, present, ours });
  if (surplus.length > 0) await api.untag(arn, surplus, signal);
  if (Object.keys(missing).length > 0) await api.tag(arn, missing, signal);
}

/** A key that is no longer configured is kept: the only alternative is the default key, which is never sent. */
export async function reconcileKey(
  { api, settings }: Store,
  arn: string,
  present: string,
  signal: AbortSignal,
): Promise<void> {
  if (settings.kms_key_id === '' || settings.kms_key_id === present) return;
  await api.changeKey(arn, settings.kms_key_id, signal);
}
