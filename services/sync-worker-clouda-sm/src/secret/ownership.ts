import { Fault } from '@secrets/domain';
import { foreignSecret, hasOwnerTag } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import type { CloudASettings } from '../settings.ts';
import { type Store, tagsIn } from './store.ts';

/** Whether the secret belongs to the destination: it has the destination's tag, or its ARN is the one last written. */
export function isOwn(
  { owner, settings }: Store,
  secret: Described,
  rememberedArn: string | undefined,
): boolean {
  if (!isPrimary(secret, settings)) return false;
  return secret.ARN === rememberedArn || hasOwnerTag(tagsIn(secret), owner);
}

/**
 * Throws `Fault` `conflict` unless the secret belongs to the destination or may be taken over. A replica of another
 * region's secret, and one that another service of the provider manages, are never taken over.
 */
export function requireOwnership(
  store: Store,
  secret: Described,
  { rememberedArn, overwrite }: { rememberedArn: string | undefined; overwrite: boolean },
): void {
  if (isOwn(store, secret, rememberedArn)) return;
  const name = JSON.stringify(secret.Name);
  if (!isPrimary(secret, store.settings)) {
    throw new Fault(
      'conflict',
      `${name} is a replica of a secret in ${secret.PrimaryRegion} and is not changed`,
    );
  }
  if (secret.OwningService !== undefined) {
    throw new Fault('conflict', `${name} is managed by another service of the provider and is not changed`);
  }
  if (!overwrite) throw foreignSecret(secret.Name);
}

const isPrimary = ({ PrimaryRegion }: Described, { region }: CloudASettings): boolean =>
  PrimaryRegion === undefined || PrimaryRegion === region;
