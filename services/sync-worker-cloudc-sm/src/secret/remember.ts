import { isDeepStrictEqual } from 'node:util';
import type { PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';
import { type Store, wantedLabels } from './store.ts';

/** Returns what to store about a secret that has the labels of the destination. */
export function remember(
  store: Store,
  { externalName: name }: PutRequest,
  { createTime, replication }: Secret,
  versions: Pick<Remembered, 'ours' | 'started'>,
): Remembered {
  const replicas = replication?.userManaged?.replicas ?? [];
  const locations = replicas.map(({ location }) => location).sort();
  return withNotice(store, { name, createTime, labels: wantedLabels(store), ...versions, locations });
}

/** The replication of an existing secret cannot be changed, so its owner learns that it differs from the destination's. */
export function withNotice({ settings }: Store, remembered: Omit<Remembered, 'notice'>): Remembered {
  const wanted = settings.replication_locations.toSorted();
  return { ...remembered, notice: isDeepStrictEqual(wanted, remembered.locations) ? null : otherLocations };
}

const otherLocations =
  'the secret is synced, but keeps the locations that it was created with: replication_locations applies to new secrets';
