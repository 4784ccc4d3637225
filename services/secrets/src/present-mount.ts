import { presentRetention } from './present-retention.ts';
import type { Mount } from './queries/mounts.ts';

/** A mount in the words of the API. */
export const presentMount = (mount: Mount) => ({
  accessor: mount.accessor,
  config: presentRetention(mount),
  description: mount.description,
  options: { version: '2' },
  type: 'kv',
  uuid: mount.id,
});
