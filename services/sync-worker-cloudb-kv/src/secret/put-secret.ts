import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest, tagChanges, tagsOf } from '@secrets/sync-worker';
import type { VaultSecret } from '../api/vault-api.ts';
import { requireOwnership } from './ownership.ts';
import { pollUntil } from './poll-until.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
import type { Store } from './store.ts';

const recoveryLimitMs = 3_000;
const maxTags = 15;

/**
 * Reconciles the secret with the value and the destination's tags. A vault overwrites whatever has the name, so the
 * secret is read before each write: whose it is, which tags of others it has, and whether an earlier attempt has
 * already written the value.
 */
export async function putSecret(store: Store, request: PutRequest): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known && !request.valueChanged && !request.verify && hasWantedTags(store, known)) return known;
  const found = await store.api.find(request.externalName, store.signal);
  return found ? reconcile(store, request, { found, known }) : create(store, request, known);
}

const wantedTags = ({ settings, owner }: Store) => tagsOf(settings.custom_tags, owner);

function hasWantedTags(store: Store, { tags }: Pick<Remembered, 'tags'>): boolean {
  const { missing, surplus } = tagChanges({ wanted: wantedTags(store), present: tags, ours: tags });
  return Object.keys(missing).length + surplus.length === 0;
}

async function create(store: Store, request: PutRequest, known: Remembered | undefined): Promise<Remembered> {
  const { externalName: name, value } = request;
  const tags = wantedTags(store);
  try {
    const version = await store.api.set(name, value.reveal(), { tags }, store.signal);
    return { name, version, tags };
  } catch (error) {
    if (!hasCode(error, 'ObjectIsDeletedButRecoverable')) throw error;
    const found = await recover(store, request, known);
    return reconcile(store, request, { found, known });
  }
}

/** Recovers the deleted secret that has the name, if the destination may write it. */
async function recover(
  store: Store,
  { externalName: name, overwrite }: PutRequest,
  known: Remembered | undefined,
): Promise<VaultSecret> {
  const deleted = await store.api.findDeleted(name, store.signal);
  if (!deleted) throw new Fault('not_ready', `the secret ${JSON.stringify(name)} is still being deleted`);
  await requireOwnership(store, name, { found: deleted, known, overwrite });
  await beginRecovery(store, name);
  const found = await pollUntil(() => store.api.find(name, store.signal), recoveryLimitMs, store.signal);
  if (found) return found;
  throw new Fault('not_ready', `the deleted secret ${JSON.stringify(name)} is still being recovered`);
}

async function beginRecovery({ api, signal }: Store, name: string): Promise<void> {
  try {
    await api.recover(name, signal);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'forbidden') throw error;
    throw new Fault(
      'forbidden',
      `a deleted secret has the name ${JSON.stringify(name)}; to recover it, the credentials need the permission Recover`,
      { cause: error },
    );
  }
}

/**
 * Reconciles an existing secret, whoever created it, with the request. What was found may be older than what is
 * remembered. That the value is there already is therefore believed only of the version that the last put left, or
 * after a write has shown that it is the newest one.
 */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known }: { found: VaultSecret; known: Remembered | undefined },
): Promise<Remembered> {
  const { externalName: name, overwrite } = request;
  await requireOwnership(store, name, { found, known, overwrite });
  const wanted = wantedTags(store);
  const { tags: present, version: newest, contentType, notBefore, expiresOn } = found.properties;
  const { missing, surplus } = tagChanges({ wanted, present, ours: known?.tags ?? {} });
  const tags = mergedTags(present, missing, surplus);
  const value = request.value.reveal();
  const isTagged =
    Object.keys(missing).length + surplus.length === 0 && hasWantedTags(store, known ?? { tags: {} });
  const isRemembered = !request.valueChanged && newest === known?.version && isTagged;
  const hasValue = found.value === value;
  if (hasValue && isRemembered) return known;
  try {
    if (hasValue && (await store.api.setTags(name, tags, store.signal)) === newest)
      return { name, version: newest, tags: wanted };
    const version = await store.api.set(
      name,
      value,
      { tags, contentType, notBefore, expiresOn },
      store.signal,
    );
    return { name, version, tags: wanted };
  } catch (error) {
    if (!hasCode(error, 'ObjectIsDeletedButRecoverable', 'SecretNotFound')) throw error;
    throw new Fault('not_ready', `${JSON.stringify(name)} was just deleted`);
  }
}

/** The vault replaces all tags at once, so those of others are sent too. */
function mergedTags(
  present: Record<string, string>,
  missing: Record<string, string>,
  surplus: readonly string[],
): Record<string, string> {
  const kept = Object.entries(present).filter(([key]) => !surplus.includes(key));
  const tags = { ...Object.fromEntries(kept), ...missing };
  const count = Object.keys(tags).length;
  if (count <= maxTags) return tags;
  throw new Fault(
    'rejected',
    `the secret would have ${count} tags, foreign ones included; a vault accepts ${maxTags}`,
    { mayPass: true },
  );
}
