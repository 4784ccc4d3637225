import { type Belonging, Fault } from '@secrets/domain';
import {
  belongingOf,
  belongsTo,
  type Overwrite,
  type OwnedSecret,
  requireWritable,
} from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import { type Store, tagsIn } from './store.ts';

/** Whether the secret belongs to the destination: it has the destination's tag, or its ARN is the one last written. */
export const isOwn = (store: Store, secret: Described, rememberedArn: string | undefined): boolean =>
  isPrimary(secret, store) && belongsTo(store.owner, ownedSecret(secret, rememberedArn));

/** A replica belongs to the destination of the secret in its primary region, if to any. */
export function belonging(store: Store, secret: Described, rememberedArn: string | undefined): Belonging {
  if (secret.OwningService !== undefined) return 'provider';
  const found = belongingOf(store.owner, ownedSecret(secret, rememberedArn));
  return found === 'own' && !isPrimary(secret, store) ? 'other' : found;
}

/**
 * Throws `Fault` `conflict` unless the secret belongs to the destination or may be taken over. A replica of another
 * region's secret, one that another service of the provider manages, and one that another destination has marked are
 * never taken over.
 */
export function requireOwnership(
  store: Store,
  secret: Described,
  { rememberedArn, overwrite }: { rememberedArn: string | undefined; overwrite: Overwrite },
): void {
  if (isOwn(store, secret, rememberedArn)) return;
  const name = JSON.stringify(secret.Name);
  if (!isPrimary(secret, store)) {
    throw new Fault(
      'conflict',
      `${name} is a replica of a secret in ${secret.PrimaryRegion} and is not changed`,
    );
  }
  if (secret.OwningService !== undefined) {
    throw new Fault('conflict', `${name} is managed by another service of the provider and is not changed`);
  }
  requireWritable(store.owner, ownedSecret(secret, rememberedArn), overwrite);
}

const ownedSecret = (secret: Described, rememberedArn: string | undefined): OwnedSecret => ({
  name: secret.Name,
  tags: tagsIn(secret),
  isRemembered: secret.ARN === rememberedArn,
});

const isPrimary = ({ PrimaryRegion }: Described, { region }: Store): boolean =>
  PrimaryRegion === undefined || PrimaryRegion === region;
