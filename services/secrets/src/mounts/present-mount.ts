import type { MountRow } from '../queries/mounts.ts';
import { presentRetention } from './retention.ts';

export const presentMount = (mount: MountRow) => ({
  accessor: mount.accessor,
  config: presentRetention(mount),
  description: mount.description,
  options: mountOptions,
  type: 'kv',
  uuid: mount.id,
});

/** The only version of the key-value store that can be mounted. */
export const mountOptions = { version: '2' };
