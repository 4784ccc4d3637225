import type { Db } from '@secrets/db';
import { disabledMounts, forgetMount, purgeSecrets, tellOfWatched } from './queries/purge.ts';

export interface Purge {
  db: Db;
  /** Told of each page that put changes into the outbox. */
  changed: () => void;
  isStopping: () => boolean;
}

const tellPage = 1_000;
const purgePage = 200;

/**
 * Tells of every watched secret under disabled mounts, then deletes what lies under them, page by page. It may end at
 * any page and be begun again, also by another process at the same time: each page is one statement.
 */
export async function purgeDisabledMounts(purge: Purge): Promise<void> {
  const mounts = await disabledMounts(purge.db);
  for (const mount of mounts) await tellOfAll(purge, mount); // of every mount before anything is deleted: that takes longer
  for (const mount of mounts) await purgeMount(purge, mount);
}

async function tellOfAll({ db, changed, isStopping }: Purge, mountId: string): Promise<void> {
  while (!isStopping()) {
    if ((await tellOfWatched(db, mountId, tellPage)) === 0) return;
    changed();
  }
}

async function purgeMount({ db, changed, isStopping }: Purge, mountId: string): Promise<void> {
  while (!isStopping()) {
    const { purged, told } = await purgeSecrets(db, mountId, purgePage);
    if (told > 0) changed();
    if (purged === 0) break;
  }
  if (!isStopping()) await forgetMount(db, mountId);
}
