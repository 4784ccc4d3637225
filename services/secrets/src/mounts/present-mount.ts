import type { MountRow } from '../queries/mounts.ts';
import { presentRetention } from './retention.ts';

// Secrets have no leases; clients of other systems read these fields: as configured, where 0 is the default, and as they apply.
const ownLeases = { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false };
export const systemLeases = { default_lease_ttl: 2_764_800, max_lease_ttl: 2_764_800, force_no_cache: false };

export const presentMount = (mount: MountRow) => ({
  accessor: mount.accessor,
  config: { ...ownLeases, ...presentRetention(mount) },
  description: mount.description,
  options: mountOptions,
  type: 'kv',
  uuid: mount.id,
});

/** The only version of the key-value store that can be mounted. */
export const mountOptions = { version: '2' };

/** The path of a mount as clients write it. */
export const withSlash = ({ path }: Pick<MountRow, 'path'>): string => `${path}/`;

export const presentByPath = (mounts: readonly MountRow[]) =>
  Object.fromEntries(mounts.map((mount) => [withSlash(mount), presentMount(mount)]));
