import type { Db } from '@secrets/db';
import { deleteMount, enqueueWatched, listDisabledMounts, purgeSecrets } from '../queries/mounts/purge.ts';

interface Purge {
  db: Db;
  /** Called after each page that queued events. */
  notifyChanged: () => void;
  isStopping: () => boolean;
}

const enqueuePageSize = 1_000;
const purgePageSize = 200;

/**
 * Queues an event for every watched secret under disabled mounts, then deletes everything under them, page by page. Each page is
 * one statement, so the purge may stop at any page, be repeated, and run in several processes at the same time.
 */
export async function purgeDisabledMounts(purge: Purge): Promise<void> {
  const mounts = await listDisabledMounts(purge.db);
  // First the events of all mounts: deleting takes much longer.
  for (const mount of mounts) await enqueueAllWatched(purge, mount);
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
  if (!isStopping()) await deleteMount(db, mountId);
}
