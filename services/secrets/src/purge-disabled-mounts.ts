import type { Db } from '@secrets/db';
import { disabledMounts, enqueueWatched, forgetMount, purgeSecrets } from './queries/purge.ts';

export interface Purge {
  db: Db;
  /** Called after each page that queued events. */
  notifyChanged: () => void;
  isStopping: () => boolean;
}

const enqueuePageSize = 1_000;
const purgePageSize = 200;

/**
 * Queues an event for every watched secret under disabled mounts, then deletes what lies under them, page by page. It may end at
 * any page and be begun again, also by another process at the same time: each page is one statement.
 */
export async function purgeDisabledMounts(purge: Purge): Promise<void> {
  const mounts = await disabledMounts(purge.db);
  for (const mount of mounts) await enqueueAllWatched(purge, mount); // of every mount before anything is deleted: that takes longer
  for (const mount of mounts) await purgeMount(purge, mount);
}

async function enqueueAllWatched({ db, notifyChanged, isStopping }: Purge, mountId: string): Promise<void> {
  while (!isStopping()) {
    if ((await enqueueWatched(db, mountId, enqueuePageSize)) === 0) return;
    notifyChanged();
  }
}

async function purgeMount({ db, notifyChanged, isStopping }: Purge, mountId: string): Promise<void> {
  while (!isStopping()) {
    const { purged, eventsQueued } = await purgeSecrets(db, mountId, purgePageSize);
    if (eventsQueued > 0) notifyChanged();
    if (purged === 0) break;
  }
  if (!isStopping()) await forgetMount(db, mountId);
}
