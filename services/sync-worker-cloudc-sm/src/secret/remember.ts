import { isDeepStrictEqual } from 'node:util';
import type { PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';
import { keysOf, locationsOf, wantedKeys } from './storage.ts';
import { type Store, wantedLabels } from './store.ts';

/** Returns what to store about a secret that has the labels of the destination. */
export function remember(
  store: Store,
  { externalName: name }: PutRequest,
  secret: Secret,
  versions: Pick<Remembered, 'ours' | 'current' | 'started' | 'keysChanged'>,
): Remembered {
  return withNotice(store, {
    name,
    createTime: secret.createTime,
    etag: secret.etag,
    labels: wantedLabels(store),
    ...versions,
    locations: locationsOf(secret),
    keys: keysOf(secret),
    setKeys: wantedKeys(store.settings),
  });
}

/** The locations of an existing secret cannot be changed, so its owner learns that they differ from those of the destination. */
export const withNotice = ({ settings }: Store, remembered: Omit<Remembered, 'notice'>): Remembered => ({
  ...remembered,
  notice: isDeepStrictEqual(settings.replication_locations.toSorted(), remembered.locations)
    ? null
    : otherLocations,
});

const otherLocations =
  'the secret is synced, but keeps the locations and encryption keys that it was created with: replication_locations applies to new secrets';
