import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import type { Secret, Version } from '../api/schema.ts';
import { changedMeanwhile, type Found } from './labels.ts';
import { remember } from './remember.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/** The newest version of a secret: its number, 0 if there is none, and undefined if it is not known; and its value, if it can be read. */
interface Newest {
  number: number | undefined;
  value?: Buffer;
}

/**
 * Ensures that the newest version has the value, and destroys the older versions that this entry has added. An attempt whose outcome was lost
 * may have added the version already: the API has no idempotency token, so the newest version is compared.
 * @returns the versions of this entry that are left
 */
export async function writeValue(
  store: Store,
  request: PutRequest,
  { found: secret, known }: Found,
  signal: AbortSignal,
): Promise<Version[]> {
  const { externalName: id } = request;
  const newest = await newestVersion(store, id, signal);
  const lost = known && (await versionOfLostAttempt(store, request, { known, newest }, signal));
  const ours = [...(known?.ours ?? []), ...(lost ?? [])];
  if (newest.value?.equals(Buffer.from(request.value.reveal(), 'utf8')))
    return destroyOlder(store, id, { ours, current: newest.number }, signal);
  const added = await addVersion(store, request, { secret, ours, after: newest.number }, signal);
  return destroyOlder(store, id, { ours: [...ours, added], current: added.number }, signal);
}

/**
 * Adds a version to a secret that exists. Before that, it records what it is about to add, because versions do not show who has added them:
 * if the outcome is lost, the next attempt recognises the version by its value.
 * @param secret.after the number of the newest version; if it is not known, nothing is recorded
 */
export async function addVersion(
  store: Store,
  request: PutRequest,
  { secret, ours, after }: { secret: Secret; ours: Version[]; after: number | undefined },
  signal: AbortSignal,
): Promise<Version> {
  const { externalName, value, valueHash } = request;
  if (after !== undefined) {
    const started = { after, hash: valueHash.of(value.reveal()) };
    await request.recordRemote(remember(store, request, secret, { ours, started }));
  }
  try {
    return await store.api.addVersion(externalName, value.reveal(), signal);
  } catch (error) {
    throw hasCode(error, 'NOT_FOUND') ? changedMeanwhile(externalName) : error;
  }
}

/** Without permission to read versions, the value is written without a comparison. */
async function newestVersion({ api }: Store, id: string, signal: AbortSignal): Promise<Newest> {
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
 * Returns the version that the last attempt has added, if its outcome was lost: the only newer version with its value. If there are several,
 * somebody else has added some of them, and none is returned.
 */
async function versionOfLostAttempt(
  { api }: Store,
  { externalName: id, valueHash }: PutRequest,
  { known: { started, ours }, newest }: { known: Remembered; newest: Newest },
  signal: AbortSignal,
): Promise<Version[]> {
  if (started === null || newest.number === undefined || newest.number <= started.after) return [];
  const enabled = (await unlessForbidden(api.enabledVersions(id, signal))) ?? [];
  const matching: Version[] = [];
  for (const version of enabled) {
    if (version.number <= started.after || ours.some(({ number }) => number === version.number)) continue;
    const isRead = version.number === newest.number && newest.value !== undefined;
    const read = isRead ? newest : await readIfPossible(api, id, version, signal);
    if (read?.value && valueHash.matches(read.value, started.hash)) matching.push(version);
  }
  return matching.length === 1 ? matching : [];
}

const readIfPossible = (api: Store['api'], id: string, { number }: Version, signal: AbortSignal) =>
  unless(api.access(id, number, signal), 'NOT_FOUND', 'FAILED_PRECONDITION', 'PERMISSION_DENIED');

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
 * Destroys the versions before the current one, because each is billed and keeps an old value readable. Its etag ensures that a version is
 * destroyed only if nobody has changed it since. A failure does not fail the put, whose value is written: the next one tries again.
 * @returns the versions that are left
 */
async function destroyOlder(
  store: Store,
  id: string,
  { ours, current }: { ours: readonly Version[]; current: number | undefined },
  signal: AbortSignal,
): Promise<Version[]> {
  const left = [...ours];
  try {
    for (const version of ours) {
      if (version.number === current) continue;
      await destroy(store, id, version, signal);
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

async function destroy({ api }: Store, id: string, version: Version, signal: AbortSignal): Promise<void> {
  try {
    await api.destroy(id, version, signal);
  } catch (error) {
    // Somebody else has disabled or destroyed it.
    if (!hasCode(error, 'FAILED_PRECONDITION', 'NOT_FOUND')) throw error;
  }
}
