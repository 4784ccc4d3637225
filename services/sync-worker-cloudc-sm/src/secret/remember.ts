import { isDeepStrictEqual } from 'node:util';
import type { CloudCSettings } from '@secrets/destinations';
import type { PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';
import { keysOf, wantedReplication } from './replication.ts';
import { type Store, wantedLabels } from './store.ts';

/** Returns what to store about a secret that has the labels of the destination. */
export function remember(
  store: Store,
  { externalName: name }: PutRequest,
  { createTime, etag, replication }: Secret,
  versions: Pick<Remembered, 'ours' | 'current' | 'started'>,
): Remembered {
  const replicas = replication?.userManaged?.replicas ?? [];
  const locations = replicas.map(({ location }) => location).sort();
  return withNotice(store, {
    name,
    createTime,
    etag,
    labels: wantedLabels(store),
    ...versions,
    locations,
    keys: keysOf(replication),
  });
}

/**
 * The replication of an existing secret is kept, so its owner learns that its locations or keys differ from those of the
 * destination.
 */
export const withNotice = ({ settings }: Store, remembered: Omit<Remembered, 'notice'>): Remembered => ({
  ...remembered,
  notice: differenceOf(settings, remembered),
});

function differenceOf(
  settings: CloudCSettings,
  { locations, keys }: Omit<Remembered, 'notice'>,
): string | null {
  const wanted = settings.replication_locations.toSorted();
  if (!isDeepStrictEqual(wanted, locations)) return otherLocations;
  return isDeepStrictEqual(keysOf(wantedReplication(settings)), keys) ? null : otherKeys;
}

const otherLocations =
  'the secret is synced, but keeps the locations that it was created with: replication_locations applies to new secrets';
const otherKeys =
  'the secret is synced, but keeps the encryption keys that it was created with: global_kms_key and locational_kms_keys apply to new secrets';
