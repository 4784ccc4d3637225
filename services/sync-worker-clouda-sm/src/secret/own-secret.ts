import { ownerTag } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { hasCode } from '../api/fault-of.ts';
import type { Described } from '../api/schema.ts';
import type { SecretsManagerApi } from '../api/secrets-manager-api.ts';
import type { CloudASettings } from './settings.ts';

/** A destination with its client: what the verbs work with. */
export interface Store {
  api: SecretsManagerApi;
  settings: CloudASettings;
  destinationId: string;
  prefix: string;
}

/** The secret of that name or ARN, one scheduled for deletion included; undefined only when the provider says there is none. */
export async function findSecret(
  { api }: Store,
  id: string,
  signal: AbortSignal,
): Promise<Described | undefined> {
  try {
    return await api.describe(id, signal);
  } catch (error) {
    if (hasCode(error, 'ResourceNotFoundException')) return undefined;
    throw error;
  }
}

/** Whether the secret is this destination's own: by its tag, or because it is the very one that was written before. */
export function isOwn(
  { prefix, destinationId, settings }: Store,
  secret: Described,
  knownArn: string | undefined,
): boolean {
  if (!isPrimary(secret, settings)) return false;
  if (secret.ARN === knownArn) return true;
  return secret.Tags.some(({ Key, Value }) => Key === ownerTag(prefix) && Value === destinationId);
}

/**
 * Throws `Fault` `conflict` unless the secret is our own or may be taken over. One that another service of the
 * provider rotates, or that mirrors another region's, is never taken over.
 */
export function requireOwnership(
  store: Store,
  secret: Described,
  terms: { knownArn: string | undefined; overwrite: boolean },
): void {
  if (isOwn(store, secret, terms.knownArn)) return;
  const name = JSON.stringify(secret.Name);
  if (!isPrimary(secret, store.settings)) {
    throw new Fault(
      'conflict',
      `${name} is a replica of a secret in ${secret.PrimaryRegion} and is left alone`,
    );
  }
  if (secret.OwningService !== undefined) {
    throw new Fault('conflict', `${name} is managed by another service of the provider and is left alone`);
  }
  if (terms.overwrite) return;
  throw new Fault(
    'conflict',
    `${name} exists and does not belong to this destination; overwrite would take it over`,
  );
}

const isPrimary = ({ PrimaryRegion }: Described, { region }: CloudASettings): boolean =>
  PrimaryRegion === undefined || PrimaryRegion === region;
