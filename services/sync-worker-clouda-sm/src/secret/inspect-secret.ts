import { Fault } from '@secrets/domain';
import { hasCode, type InspectRequest, type Look } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import { belonging } from './ownership.ts';
import { parseRemembered } from './remembered.ts';
import { isCurrent } from './secret-parts.ts';
import { findSecret, type Store } from './store.ts';

/**
 * Describes the secret that has the name now, and reads its value only if it is not the version that the last put wrote: that has
 * the value it was written with. A read that meets a deletion or another write is refused, so the next look decides.
 */
export async function inspectSecret(store: Store, request: InspectRequest): Promise<Look> {
  await store.account.require(store.signal);
  const known = parseRemembered(store, request);
  const found = await findSecret(store, request.externalName);
  if (found === undefined || found.DeletedDate !== undefined) return { exists: false };
  const mark = currentVersion(found);
  const same = known?.arn === found.ARN ? known : undefined;
  const isUntouched = same !== undefined && isCurrent(found, same);
  const value = isUntouched ? 'unread' : await compare(store, request, { arn: found.ARN, version: mark });
  return {
    exists: true,
    belongs: belonging(store, found, known?.arn),
    mark,
    ...(same !== undefined && { pushedMark: same.version }),
    isUntouched,
    value,
    changedAt: found.LastChangedDate ?? null,
    ...(value === 'same' && same !== undefined && { remote: { ...same, version: mark } }),
  };
}

/** Empty for a secret that was created without a value. */
export const currentVersion = ({ VersionIdsToStages: versions }: Described): string =>
  Object.keys(versions).find((id) => versions[id]!.includes('AWSCURRENT')) ?? '';

/** Credentials that may not read values can still push them. */
async function compare(
  { api, signal }: Store,
  { isSameValue }: InspectRequest,
  { arn, version }: { arn: string; version: string },
): Promise<'same' | 'different' | 'unread'> {
  if (version === '') return 'different';
  try {
    const { SecretString: text } = await api.read(arn, version, signal);
    return text !== undefined && isSameValue(text) ? 'same' : 'different';
  } catch (error) {
    if (error instanceof Fault && error.kind === 'forbidden') return 'unread';
    if (!hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException')) throw error;
    throw new Fault('not_ready', 'somebody else is changing or deleting the secret at this moment');
  }
}
