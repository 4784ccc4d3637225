import type { CloudBSettings } from '@secrets/destinations';
import { tagChanges, tagsOf } from '@secrets/sync-worker';
import type { SecretProperties, VaultSecret } from '../api/vault-api.ts';
import type { Remembered } from './remembered.ts';
import type { Store } from './store.ts';

type Settings = Pick<CloudBSettings, 'content_type' | 'expires_after'>;
type Properties = VaultSecret['properties'];

/** The state that a put leaves besides the value. */
type Content = Pick<Remembered, 'tags' | 'contentType' | 'expiry'>;

export const wantedTags = ({ settings, owner }: Pick<Store, 'settings' | 'owner'>) =>
  tagsOf(settings.custom_tags, owner);

/** A vault keeps dates in whole seconds. */
const expiryAfter = (written: Date, { expires_after: after }: Settings): Remembered['expiry'] =>
  after === 0 ? null : { at: (Math.floor(written.getTime() / 1000) + after) * 1000, after };

/** The content of a new version that is written now. */
export const wantedContent = (store: Pick<Store, 'settings' | 'owner'>): Content => ({
  tags: wantedTags(store),
  contentType: store.settings.content_type,
  expiry: expiryAfter(new Date(), store.settings),
});

/** Whether the last put has set everything that the destination says now. */
export function isSettled(store: Pick<Store, 'settings' | 'owner'>, known: Remembered): boolean {
  const { tags, contentType, expiry } = wantedContent(store);
  const { missing, surplus } = tagChanges({ wanted: tags, present: known.tags, ours: known.tags });
  return (
    Object.keys(missing).length + surplus.length === 0 &&
    known.contentType === contentType &&
    known.expiry?.after === expiry?.after
  );
}

/** The properties that the destination sets, and those of others where it sets nothing. */
export const propertiesOf = (
  { contentType, expiry }: Omit<Content, 'tags'>,
  kept: Pick<Properties, 'contentType' | 'expiresOn'>,
): Pick<SecretProperties, 'contentType' | 'expiresOn'> => ({
  contentType: contentType === '' ? kept.contentType : contentType,
  expiresOn: expiry === null ? kept.expiresOn : new Date(expiry.at),
});

/** The content type and the expiry of a version that are not those of the last put. */
export const ofOthers = (
  { contentType, expiresOn }: Properties,
  known: Remembered | undefined,
): Pick<Properties, 'contentType' | 'expiresOn'> => ({
  contentType: contentType === known?.contentType ? undefined : contentType,
  expiresOn: expiresOn?.getTime() === known?.expiry?.at ? undefined : expiresOn,
});

/**
 * The content that an existing version is to have. Its expiry is counted from its creation, or stays what the last put has set
 * with the same duration.
 */
export function contentOf(
  store: Pick<Store, 'settings' | 'owner'>,
  { version, createdOn = new Date() }: Properties,
  known: Remembered | undefined,
): Content {
  const isSame = known?.version === version && known?.expiry?.after === store.settings.expires_after;
  return {
    ...wantedContent(store),
    expiry: isSame && known ? known.expiry : expiryAfter(createdOn, store.settings),
  };
}

/**
 * Whether only a new version can have the properties: an update leaves what it does not name
 * (https://learn.microsoft.com/rest/api/keyvault/secrets/update-secret/update-secret), and a version that a changed duration has
 * expired already would be of no use.
 */
export function needsVersion(
  present: Properties,
  wanted: Pick<SecretProperties, 'contentType' | 'expiresOn'>,
  nowMs: number,
): boolean {
  const isTakenAway =
    (present.contentType !== undefined && wanted.contentType === undefined) ||
    (present.expiresOn !== undefined && wanted.expiresOn === undefined);
  const expiresAt = wanted.expiresOn?.getTime();
  const isPast = expiresAt !== undefined && expiresAt <= nowMs && expiresAt !== present.expiresOn?.getTime();
  return isTakenAway || isPast;
}
