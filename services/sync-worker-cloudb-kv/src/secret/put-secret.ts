import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { hasCode, isEqualValue, type PutRequest, tagChanges } from '@secrets/sync-worker';
import type { SecretProperties, VaultSecret } from '../api/vault-api.ts';
import {
  contentOf,
  isSettled,
  needsVersion,
  ofOthers,
  propertiesOf,
  wantedContent,
  wantedTags,
} from './content.ts';
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
  if (known && !request.valueChanged && !request.verify && isSettled(store, known)) return known;
  const found = await store.api.find(request.externalName, store.signal);
  return found ? reconcile(store, request, { found, known }) : create(store, request, known);
}

async function create(store: Store, request: PutRequest, known: Remembered | undefined): Promise<Remembered> {
  const { externalName: name, value } = request;
  const content = wantedContent(store);
  try {
    const properties = { tags: content.tags, ...propertiesOf(content, {}) };
    const version = await store.api.set(name, value.reveal(), properties, store.signal);
    return { name, version, ...content, updated: null };
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
  secret: { found: VaultSecret; known: Remembered | undefined },
): Promise<Remembered> {
  const { externalName: name, overwrite } = request;
  const { found, known } = secret;
  await requireOwnership(store, name, { found, known, overwrite });
  const kept = keptOf(store, secret);
  const content = contentOf(store, found.properties, known);
  const wanted = { tags: kept.tags, ...propertiesOf(content, kept) };
  const hasValue = hasWantedValue(request, secret);
  if (hasValue && !request.valueChanged && known && isUnchanged(store, { found, known, wanted }))
    return known;
  try {
    if (hasValue && !needsVersion(found.properties, wanted, Date.now())) {
      const updated = await store.api.update(name, wanted, store.signal);
      if (updated === found.properties.version) return { name, version: updated, ...content, updated: null };
    }
    return await writeVersion(store, request, kept);
  } catch (error) {
    if (!hasCode(error, 'ObjectIsDeletedButRecoverable', 'SecretNotFound')) throw error;
    throw new Fault('not_ready', `${JSON.stringify(name)} was just deleted`);
  }
}

/**
 * Whether the newest version has the value. JSON in another order of its names is equal in a secret that is taken over, and
 * stays so until either changes.
 */
function hasWantedValue(
  { value, valueChanged }: PutRequest,
  { found, known }: { found: VaultSecret; known: Remembered | undefined },
): boolean {
  if (found.value === undefined || found.value === value.reveal()) return found.value !== undefined;
  const mayKeep = known === undefined || (!valueChanged && found.properties.version === known.version);
  return mayKeep && isEqualValue(seal(found.value), value);
}

/** A new version inherits nothing, so it is written with what others have set, too. */
async function writeVersion(
  store: Store,
  { externalName: name, value }: PutRequest,
  kept: SecretProperties,
): Promise<Remembered> {
  const content = wantedContent(store);
  const properties = { ...kept, ...propertiesOf(content, kept) };
  const version = await store.api.set(name, value.reveal(), properties, store.signal);
  return { name, version, ...content, updated: null };
}

/** All tags that the secret is to have, and what else others have set. */
function keptOf(
  store: Store,
  { found: { properties }, known }: { found: VaultSecret; known: Remembered | undefined },
): SecretProperties {
  const { tags: present, notBefore } = properties;
  const changes = tagChanges({ wanted: wantedTags(store), present, ours: known?.tags ?? {} });
  return {
    tags: mergedTags(present, changes.missing, changes.surplus),
    notBefore,
    ...ofOthers(properties, known),
  };
}

/** Whether the version is the one that the last put left, and neither it nor the settings have changed since. */
function isUnchanged(
  store: Store,
  { found, known, wanted }: { found: VaultSecret; known: Remembered; wanted: SecretProperties },
): boolean {
  const { version, tags, contentType, expiresOn } = found.properties;
  const { tags: wantedTags, ...properties } = wanted;
  return (
    version === known.version &&
    isSettled(store, known) &&
    isDeepStrictEqual({ tags, contentType, expiresOn }, { tags: wantedTags, ...properties })
  );
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
