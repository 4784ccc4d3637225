import { Fault } from '@secrets/domain';
import { belongsTo, hasCode, type OwnedSecret, requireWritable } from '@secrets/sync-worker';
import type { Found } from '../api/vault-api.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

const certificateTypes = ['application/x-pkcs12', 'application/x-pem-file'];

/** Whether the secret is the private part of a certificate, which the vault manages itself. */
const isCertificate = ({ managed, contentType }: Found['properties']): boolean =>
  managed || certificateTypes.includes(contentType?.toLowerCase() ?? '');

/**
 * Whether the secret belongs to the destination: it has the destination's tag, or it still has the version that was last written, because
 * whoever writes a new version in the portal loses the tags. A certificate never belongs to it.
 */
export async function isOwn(
  store: Store,
  name: string,
  { found, known }: { found: Found; known: Remembered | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  if (isCertificate(found.properties)) return false;
  if (belongsTo(store.owner, owned(name, found, false))) return true;
  const isRemembered = known !== undefined && (await hasVersion(store, known, found, signal));
  return belongsTo(store.owner, owned(name, found, isRemembered));
}

/**
 * Throws `Fault` `conflict` unless the secret belongs to the destination or may be taken over. A certificate, and a secret that another
 * destination has marked, are never taken over.
 */
export async function requireOwnership(
  store: Store,
  name: string,
  secret: { found: Found; known: Remembered | undefined; overwrite: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (await isOwn(store, name, secret, signal)) return;
  if (isCertificate(secret.found.properties))
    throw new Fault(
      'conflict',
      `${JSON.stringify(name)} belongs to a certificate of the vault and is not changed`,
    );
  requireWritable(store.owner, owned(name, secret.found, false), secret.overwrite);
}

/** A purged secret loses its versions, so one that somebody else has created since does not have the version. */
async function hasVersion(
  { api }: Store,
  { name, version }: Remembered,
  { properties }: Found,
  signal: AbortSignal,
): Promise<boolean> {
  if (properties.version === version) return true;
  try {
    return (await api.find(name, signal, version)) !== undefined;
  } catch (error) {
    if (hasCode(error, 'SecretDisabled')) return true;
    throw error;
  }
}

const owned = (name: string, { properties: { tags } }: Found, isRemembered: boolean): OwnedSecret => ({
  name,
  tags,
  isRemembered,
});
