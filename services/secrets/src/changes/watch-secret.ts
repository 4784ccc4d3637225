import { invalid } from '@secrets/domain';
import type { Context } from '../context.ts';
import {
  findSecrets,
  type InspectedRow,
  isFolder,
  lockEnabledMount,
  markWatched,
  type WatchedMount,
} from '../queries/watch.ts';

/** A secret by its name. */
export interface WatchRequest {
  namespaceId: string;
  mountPath: string;
  /** Path of the secret below the mount. */
  path: string;
}

/** A secret that may not exist, under a mount that does. */
export interface Watched {
  mount: WatchedMount;
  /** Undefined if there is no such secret. */
  secretId: string | undefined;
  row: InspectedRow | undefined;
  /** Whether the path is a folder and no secret. */
  isFolder: boolean;
}

/**
 * Marks a secret as watched and returns its state, in one transaction: every change after that state queues an event.
 * Throws `invalid` if there is no mount at `mountPath`.
 */
export const watchSecret = (
  context: Context,
  { namespaceId, mountPath, path }: WatchRequest,
): Promise<Watched> =>
  context.db.transaction(async (tx) => {
    const mount = await lockEnabledMount(tx, namespaceId, mountPath);
    if (mount === undefined) throw invalid(`mount: no key-value store is mounted at ${mountPath}`);
    const secretId = await markWatched(tx, mount.id, path);
    if (secretId === undefined)
      return { mount, secretId, row: undefined, isFolder: await isFolder(tx, mount.id, path) };
    const [row] = await findSecrets(tx, [secretId]);
    return { mount, secretId, row, isFolder: false };
  });
