import { type Sealed, seal } from '@secrets/seal';
import { belongingOf, hasCode, type InspectRequest, type Look } from '@secrets/sync-worker';
import { outdatedRead } from './labels.ts';
import { currentOf, parseRemembered, type Remembered } from './remembered.ts';
import { findSecret, isOutdated, owned, type Store } from './store.ts';

/**
 * Reads the newest version, which comes with its value. The secret itself is read only if that is not what the last put left:
 * such reads have a small quota (https://docs.cloud.google.com/secret-manager/quotas). The value counts too, because the versions
 * of a secret that was created again have the same numbers.
 */
export async function inspectSecret(store: Store, request: InspectRequest): Promise<Look> {
  const { externalName: id } = request;
  const known = parseRemembered(request);
  const newest = await newestVersion(store, id, known);
  const value =
    newest.value === undefined ? 'unread' : request.isSameValue(newest.value) ? 'same' : 'different';
  const mark = String(newest.number ?? '');
  if (known !== undefined && value === 'same' && newest.number === currentOf(known))
    return { exists: true, belongs: 'own', mark, isUntouched: true, value, changedAt: null };
  const found = await findSecret(store, id);
  if (found === undefined) {
    await requirePlace(store);
    return { exists: false };
  }
  if (isOutdated(found, known)) throw outdatedRead(id);
  const isKnown = known?.createTime === found.createTime;
  return {
    exists: true,
    belongs: belongingOf(store.owner, owned(id, found, known)),
    mark,
    ...(known !== undefined && { pushedMark: String(currentOf(known)) }),
    isUntouched: false,
    value: newest.number === 0 ? 'different' : value,
    changedAt: null,
    ...(value === 'same' && isKnown && { remote: { ...known, current: newest.number! } }),
  };
}

/**
 * Requires that the project exists: "not found" may be about that. If the credentials may not list, it does: a project that does
 * not exist refuses every call in the same way.
 */
async function requirePlace({ api, signal }: Store): Promise<void> {
  try {
    await api.list('', signal, 1);
  } catch (error) {
    if (!hasCode(error, 'PERMISSION_DENIED')) throw error;
  }
}

interface Newest {
  /** 0 if there is no version; undefined if it is not known, because the newest one cannot be read. */
  number: number | undefined;
  /** Undefined for a version that is disabled or destroyed. */
  value?: Sealed<string>;
}

/**
 * `latest` may lag behind; a number does not (https://docs.cloud.google.com/secret-manager/docs/reference/consistency).
 */
async function newestVersion(store: Store, id: string, known: Remembered | undefined): Promise<Newest> {
  const latest = await read(store, id, 'latest');
  const remembered = currentOf(known);
  if (latest.number === undefined || latest.number >= remembered) return latest;
  const current = await read(store, id, remembered);
  return current.number === 0 ? latest : current;
}

async function read({ api, signal }: Store, id: string, version: number | 'latest'): Promise<Newest> {
  try {
    const { number, value } = await api.access(id, version, signal);
    return { number, value: seal(value.toString('utf8')) };
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return { number: 0 };
    if (hasCode(error, 'FAILED_PRECONDITION')) return { number: version === 'latest' ? undefined : version };
    throw error;
  }
}
