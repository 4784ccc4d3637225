import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import type { Version } from '../api/schema.ts';
import { changedMeanwhile } from './labels.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/** The versions of a secret, as they are remembered. */
export type Versions = Pick<Remembered, 'version' | 'versionEtag' | 'oldest'>;

/**
 * Ensures that the newest version has the value, and destroys our older versions. An attempt whose outcome was lost may have added the
 * version already: the API has no idempotency token, so the newest version is compared.
 */
export async function writeValue(
  store: Store,
  request: PutRequest,
  known: Versions | undefined,
  signal: AbortSignal,
): Promise<Versions> {
  const written = await currentVersion(store, request, known, signal);
  const version = written ?? (await addVersion(store, request, signal));
  const oldest = known?.oldest ?? version.number;
  const current = { version: version.number, versionEtag: version.etag, oldest };
  return { ...current, oldest: await destroyOlder(store, request, { current, known }, signal) };
}

/** Adds a version to a secret that exists. */
export async function addVersion(
  { api }: Store,
  { externalName, value }: PutRequest,
  signal: AbortSignal,
): Promise<Version> {
  try {
    return await api.addVersion(externalName, value.reveal(), signal);
  } catch (error) {
    throw hasCode(error, 'NOT_FOUND') ? changedMeanwhile(externalName) : error;
  }
}

/** Returns the newest version if it has the value. If it cannot be read, the answer is no, and the value is written again. */
async function currentVersion(
  { api }: Store,
  { externalName, value }: PutRequest,
  known: Versions | undefined,
  signal: AbortSignal,
): Promise<Version | undefined> {
  try {
    const latest = await api.latest(externalName, signal);
    if (!latest.value.equals(Buffer.from(value.reveal(), 'utf8'))) return undefined;
    return { number: latest.number, etag: latest.number === known?.version ? known.versionEtag : '' };
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND', 'FAILED_PRECONDITION', 'PERMISSION_DENIED')) return undefined;
    throw error;
  }
}

/**
 * Destroys the enabled versions before the current one that are ours, because each is billed and keeps an old value readable. Versions from
 * before a takeover are not ours. A failure does not fail the put, whose value is written: the next one tries again.
 * @returns the number of the oldest version that may not be destroyed
 */
async function destroyOlder(
  store: Store,
  { externalName }: PutRequest,
  { current, known }: { current: Versions; known: Versions | undefined },
  signal: AbortSignal,
): Promise<number> {
  if (current.oldest >= current.version) return current.version;
  try {
    for (const version of await olderVersions(store, externalName, { current, known }, signal))
      await destroy(store, externalName, version, signal);
    return current.version;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    store.log.warn(
      { fault: error.kind, reason: error.message },
      'an older version of a secret was not destroyed',
    );
    return current.oldest;
  }
}

/** Usually there is one, which the last put wrote. Its etag ensures that it is destroyed only if nobody has changed it since. */
async function olderVersions(
  { api }: Store,
  id: string,
  { current, known }: { current: Versions; known: Versions | undefined },
  signal: AbortSignal,
): Promise<Version[]> {
  const isUsual = known?.oldest === known?.version && known?.version === current.version - 1;
  if (isUsual && known?.versionEtag) return [{ number: known.version, etag: known.versionEtag }];
  const enabled = await api.enabledVersions(id, signal);
  return enabled.filter(({ number }) => number >= current.oldest && number < current.version);
}

async function destroy({ api }: Store, id: string, version: Version, signal: AbortSignal): Promise<void> {
  try {
    await api.destroy(id, version, signal);
  } catch (error) {
    // Somebody else has disabled or destroyed it.
    if (!hasCode(error, 'FAILED_PRECONDITION', 'NOT_FOUND')) throw error;
  }
}
