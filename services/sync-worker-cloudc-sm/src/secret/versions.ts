import { Fault } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { hasCode, isEqualValue, type PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import { changedMeanwhile, type RememberedSecret } from './labels.ts';
import { remember } from './remember.ts';
import { currentOf, type Remembered } from './remembered.ts';
import { isEncryptedWith, keysOf } from './storage.ts';
import type { Store } from './store.ts';

/**
 * The newest version of a secret: its number, 0 if there is none, and undefined if it is not known; and its value, if
 * it can be read.
 */
type Newest = { number: number; value: Buffer } | { number: number | undefined; value?: undefined };

/** A version that this entry has added. */
type OwnVersion = Remembered['ours'][number];

/** The versions of this entry that are left, and the number of the newest one of the secret. */
type Versions = Pick<Remembered, 'ours' | 'current'>;

/**
 * Ensures that the newest version has the value, and destroys the older versions that this entry has added. An attempt
 * whose outcome was lost may have added the version already: the API has no idempotency token, so the newest version is
 * compared. If the keys have changed, a version is added although it has the value: an older one stays encrypted as it was.
 */
export async function writeValue(
  store: Store,
  request: PutRequest,
  { found: secret, known, keysChanged }: RememberedSecret & { keysChanged: boolean },
): Promise<Versions> {
  const { externalName: id } = request;
  const newest = await newestVersion(store, id);
  const lost = known && (await versionOfLostAttempt(store, request, { known, newest }));
  const ours = [...(known?.ours ?? []), ...(lost ?? [])];
  const written = keysChanged ? undefined : await writtenVersion(store, request, { known, newest });
  if (written !== undefined)
    return { ours: await destroyOlder(store, id, { ours, current: written }), current: written };
  const after = newest.number === undefined ? undefined : Math.max(newest.number, currentOf(known));
  const added = await addVersion(store, request, { secret, ours, after, keysChanged });
  const all = [...ours, added];
  const current = added.number;
  return { ours: await destroyOlder(store, id, { ours: all, current }), current };
}

/**
 * Returns the number of the newest version if it has the value already. What `latest` denotes may be older than that,
 * so it decides only if it is the version that is remembered, and no attempt may have added another one since.
 * Otherwise, versions are read by their numbers, which is strongly consistent
 * (https://docs.cloud.google.com/secret-manager/docs/reference/consistency): the next number shows whether there is a
 * newer one.
 */
async function writtenVersion(
  { api, signal }: Store,
  request: PutRequest,
  { known, newest }: { known: Remembered | undefined; newest: Newest },
): Promise<number | undefined> {
  if (newest.number === undefined) return undefined;
  const { externalName: id, valueChanged } = request;
  const remembered = currentOf(known);
  const hasValue = newest.value !== undefined && isWanted(request, known, newest);
  if (hasValue && known?.started === null && newest.number === remembered) return newest.number;
  const isOutdated = newest.value !== undefined && newest.number < remembered;
  if (isOutdated ? valueChanged : !hasValue) return undefined;
  const number = Math.max(newest.number, remembered);
  const read = await readIfPossible(api, id, number, signal);
  if (read === undefined || !isWanted(request, known, read)) return undefined;
  return (await exists(api, id, number + 1, signal)) ? undefined : number;
}

/**
 * Whether a version has the value. JSON in another order of its names is equal in a secret that is taken over, and stays so until
 * either changes.
 */
function isWanted(
  { value, valueChanged }: PutRequest,
  known: Remembered | undefined,
  version: { number: number; value: Buffer },
): boolean {
  if (version.value.equals(Buffer.from(value.reveal(), 'utf8'))) return true;
  const mayKeep = known === undefined || (!valueChanged && version.number === currentOf(known));
  return mayKeep && isEqualValue(seal(version.value.toString('utf8')), value);
}

/**
 * Adds a version to a secret that exists. Before that, it records what it is about to add, because versions do not show
 * who has added them: if the outcome is lost, the next attempt recognises the version by its value.
 * @param secret.after the number of the newest version; if it is not known, nothing is recorded
 */
export async function addVersion(
  store: Store,
  request: PutRequest,
  {
    secret,
    ours,
    after,
    keysChanged,
  }: { secret: Secret; ours: OwnVersion[]; after: number | undefined; keysChanged: boolean },
): Promise<OwnVersion> {
  const { externalName, value, valueHash } = request;
  if (after !== undefined) {
    const started = { after, hash: valueHash.of(value.reveal()) };
    await request.recordRemote(
      remember(store, request, secret, { ours, current: after, started, keysChanged }),
    );
  }
  try {
    const added = await store.api.addVersion(externalName, value.reveal(), store.signal);
    if (!isEncryptedWith(added, keysOf(secret))) throw otherKeys();
    return { number: added.number, etag: added.etag };
  } catch (error) {
    throw hasCode(error, 'NOT_FOUND') ? changedMeanwhile(externalName) : error;
  }
}

/** A version is added again until it is encrypted with the keys that the secret has shown. */
const otherKeys = (): Fault =>
  new Fault('not_ready', 'AddSecretVersion: the version was encrypted with other keys');

/** Without permission to read versions, the value is written without a comparison. */
async function newestVersion({ api, signal }: Store, id: string): Promise<Newest> {
  try {
    return await api.access(id, 'latest', signal);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return { number: 0 };
    if (hasCode(error, 'PERMISSION_DENIED')) return { number: undefined };
    if (!hasCode(error, 'FAILED_PRECONDITION')) throw error;
  }
  // It is disabled or destroyed. Such versions are never destroyed, so only the enabled ones count.
  const enabled = await unlessForbidden(api.enabledVersions(id, signal));
  return { number: enabled && (enabled[0]?.number ?? 0) };
}

/**
 * Returns the version that the last attempt has added, if its outcome was lost: the only newer version with its value.
 * If there are several, somebody else has added some of them, and none is returned.
 */
async function versionOfLostAttempt(
  { api, signal }: Store,
  { externalName: id, valueHash }: PutRequest,
  { known: { started, ours }, newest }: { known: Remembered; newest: Newest },
): Promise<OwnVersion[]> {
  if (started === null || newest.number === undefined || newest.number <= started.after) return [];
  const enabled = (await unlessForbidden(api.enabledVersions(id, signal))) ?? [];
  const matching: OwnVersion[] = [];
  for (const version of enabled) {
    if (version.number <= started.after || ours.some(({ number }) => number === version.number)) continue;
    const isRead = version.number === newest.number && newest.value !== undefined;
    const read = isRead ? newest : await readIfPossible(api, id, version.number, signal);
    if (read?.value && valueHash.matches(read.value, started.hash))
      matching.push({ number: version.number, etag: version.etag });
  }
  return matching.length === 1 ? matching : [];
}

const readIfPossible = (api: Store['api'], id: string, number: number, signal: AbortSignal) =>
  unless(api.access(id, number, signal), 'NOT_FOUND', 'FAILED_PRECONDITION', 'PERMISSION_DENIED');

/** Whether there is a version of this number, also one that cannot be read. */
async function exists(api: Store['api'], id: string, number: number, signal: AbortSignal): Promise<boolean> {
  try {
    await api.access(id, number, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return false;
    if (hasCode(error, 'FAILED_PRECONDITION', 'PERMISSION_DENIED')) return true;
    throw error;
  }
}

const unlessForbidden = <Result>(call: Promise<Result>) => unless(call, 'PERMISSION_DENIED');

/** Returns undefined if the call fails with one of these codes. */
const unless = <Result>(call: Promise<Result>, ...codes: readonly string[]): Promise<Result | undefined> =>
  call.catch((error: unknown) => {
    if (hasCode(error, ...codes)) return undefined;
    throw error;
  });

/** A limit for what is stored, in case that versions can be added and not destroyed. */
const maxRemembered = 100;

/**
 * Destroys the versions with lower numbers than the current one, because each is billed and keeps an old value
 * readable. The etag ensures that a version that was changed in the meantime is not destroyed. A failure does not fail
 * the put, whose value is written: the next one tries again.
 * @param versions.current the number of a version that was added, or found by its number, or is remembered
 * @returns the versions that are left
 */
async function destroyOlder(
  store: Store,
  id: string,
  { ours, current }: { ours: readonly OwnVersion[]; current: number },
): Promise<OwnVersion[]> {
  const left = [...ours];
  try {
    for (const version of ours) {
      if (version.number >= current) continue;
      await destroy(store, id, version);
      left.splice(left.indexOf(version), 1);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    store.log.warn(
      { fault: error.kind, reason: error.message },
      'an older version of a secret was not destroyed',
    );
  }
  return left.slice(-maxRemembered);
}

async function destroy({ api, signal }: Store, id: string, version: OwnVersion): Promise<void> {
  try {
    await api.destroy(id, version, signal);
  } catch (error) {
    // Somebody else has disabled or destroyed it.
    if (!hasCode(error, 'FAILED_PRECONDITION', 'NOT_FOUND')) throw error;
  }
}
