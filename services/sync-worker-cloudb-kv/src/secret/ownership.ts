import { isCertificateType } from '@secrets/destinations';
import { type Belonging, Fault } from '@secrets/domain';
import {
  belongingOf,
  belongsTo,
  hasCode,
  type Overwrite,
  type OwnedSecret,
  type Owner,
  requireWritable,
} from '@secrets/sync-worker';
import type { VaultSecret } from '../api/vault-api.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

/** Whether the secret is the private part of a certificate, which the vault manages itself. */
const isCertificate = ({ managed, contentType }: VaultSecret['properties']): boolean =>
  managed || isCertificateType(contentType ?? '');

/**
 * Whether the secret belongs to the destination: it has the destination's tag, or it still has the version that was
 * last written, because whoever writes a new version in the portal loses the tags. A certificate never belongs to it.
 */
export async function isOwn(
  store: Store,
  name: string,
  { found, known }: { found: VaultSecret; known: Remembered | undefined },
): Promise<boolean> {
  if (isCertificate(found.properties)) return false;
  if (belongsTo(store.owner, owned(name, found, false))) return true;
  const isRemembered =
    known !== undefined && (found.properties.version === known.version || (await hasVersion(store, known)));
  return belongsTo(store.owner, owned(name, found, isRemembered));
}

/** Whose a secret is of which nothing is remembered. */
export const belongingByTags = (owner: Owner, name: string, found: VaultSecret): Belonging =>
  isCertificate(found.properties) ? 'provider' : belongingOf(owner, owned(name, found, false));

/** Whose the secret is, decided without a write. */
export async function belonging(
  { api, owner, signal }: Store,
  name: string,
  { found, known }: { found: VaultSecret; known: Remembered | undefined },
): Promise<Belonging> {
  if (isCertificate(found.properties)) return 'provider';
  const { version } = found.properties;
  const shown = belongingOf(owner, owned(name, found, version === known?.version));
  if (shown !== 'none' || known === undefined) return shown;
  return (await showsVersion(api, known, signal)) ? 'own' : 'none';
}

/**
 * Throws `Fault` `conflict` unless the secret belongs to the destination or may be taken over. A certificate, and a
 * secret that another destination has marked, are never taken over.
 */
export async function requireOwnership(
  store: Store,
  name: string,
  secret: { found: VaultSecret; known: Remembered | undefined; overwrite: Overwrite },
): Promise<void> {
  if (await isOwn(store, name, secret)) return;
  if (isCertificate(secret.found.properties))
    throw new Fault(
      'conflict',
      `${JSON.stringify(name)} belongs to a certificate of the vault and is not changed`,
    );
  requireWritable(store.owner, owned(name, secret.found, false), secret.overwrite);
}

/**
 * Whether the secret still has the version that was last written. A purged secret loses its versions, so one that
 * somebody else has created since does not have it. The tags of the version are set again, because a read may be older
 * than the version.
 */
export async function hasVersion(
  { api, signal }: Store,
  { name, version, tags }: Remembered,
): Promise<boolean> {
  try {
    await api.update(name, { tags }, signal, version);
    return true;
  } catch (error) {
    if (hasCode(error, 'SecretNotFound')) return false;
    if (isRefused(error)) return showsVersion(api, { name, version }, signal);
    throw error;
  }
}

/** Whether the credentials or a policy do not permit the call. */
export const isRefused = (error: unknown): boolean =>
  (error instanceof Fault && error.kind === 'forbidden') || hasCode(error, 'ForbiddenByGovernancePolicy');

async function showsVersion(
  api: Store['api'],
  { name, version }: Pick<Remembered, 'name' | 'version'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await api.find(name, signal, version)) !== undefined;
  } catch (error) {
    if (hasCode(error, 'SecretDisabled')) return true;
    throw error;
  }
}

const owned = (name: string, { properties: { tags } }: VaultSecret, isRemembered: boolean): OwnedSecret => ({
  name,
  tags,
  isRemembered,
});
