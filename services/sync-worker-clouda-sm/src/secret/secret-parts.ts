import { randomUUID } from 'node:crypto';
import { Fault } from '@secrets/domain';
import { type PutRequest, tagChanges, tagsOf } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Writes the value as the current version and returns the version's ID. The idempotency token makes a repeated put
 * harmless. If the token's version exists but is no longer the current one, the value is written again under a new token.
 */
export async function putValue({ api, signal }: Store, request: PutRequest, arn: string): Promise<string> {
  const write = (token: string) =>
    api.put({ SecretId: arn, SecretString: request.value.reveal(), ClientRequestToken: token }, signal);
  const written = await write(request.idempotencyToken);
  if (written.VersionStages?.includes('AWSCURRENT') !== false) return written.VersionId;
  const again = await write(randomUUID());
  if (again.VersionStages?.includes('AWSCURRENT') === false)
    throw new Fault('not_ready', 'somebody else has written the secret at the same time');
  return again.VersionId;
}

/**
 * Whether the version that the last put wrote is still the current one. It has the same value then, because versions cannot be
 * changed (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html).
 */
export const isCurrent = ({ VersionIdsToStages }: Described, { version }: Remembered): boolean =>
  Object.hasOwn(VersionIdsToStages, version) && VersionIdsToStages[version]?.includes('AWSCURRENT') === true;

/**
 * Sets the tags that are missing, and removes those that the last put set and the destination no longer has. A
 * description may be older than that put, so a tag counts as present only if the put has not set another value.
 */
export async function reconcileTags(
  { api, settings, owner, signal }: Store,
  arn: string,
  { present, ours }: { present: Record<string, string>; ours: Record<string, string> },
): Promise<void> {
  const wanted = tagsOf(settings.custom_tags, owner);
  const isCurrent = ([key, value]: [string, string]) => !Object.hasOwn(ours, key) || ours[key] === value;
  const confirmed = Object.fromEntries(Object.entries(present).filter(isCurrent));
  const { missing } = tagChanges({ wanted, present: confirmed, ours });
  const surplus = Object.keys(ours).filter((key) => !Object.hasOwn(wanted, key));
  if (surplus.length > 0) await api.untag(arn, surplus, signal);
  if (Object.keys(missing).length > 0) await api.tag(arn, missing, signal);
}
