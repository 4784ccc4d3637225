import { builtInPlugin, presentMountConfig, presentMountFlags } from '@secrets/domain';
import type { MountRow } from '../queries/mounts/mounts.ts';
import { presentRetention } from './retention.ts';

/** Secrets have no leases: how long they would be is only shown to clients that configure it. */
const systemLease = 2_764_800;

export const presentMount = (mount: MountRow) => ({
  accessor: mount.accessor,
  config: {
    default_lease_ttl: mount.attributes.default_lease_ttl ?? 0,
    max_lease_ttl: mount.attributes.max_lease_ttl ?? 0,
    ...presentMountConfig(mount.attributes),
    ...presentRetention(mount),
  },
  description: mount.description,
  options: presentOptions(mount),
  ...presentMountFlags(mount.attributes),
  ...builtInPlugin,
  type: 'kv',
  uuid: mount.id,
});

/** Returns all that everybody may know of a mount that is listed to them. */
export const presentPublicMount = (mount: MountRow) => ({
  type: 'kv',
  description: mount.description,
  options: presentOptions(mount),
});

/** The settings of a mount as they apply. */
export function presentTune(mount: MountRow) {
  const { attributes } = mount;
  const max = Number(attributes.max_lease_ttl) || systemLease;
  return {
    default_lease_ttl: Number(attributes.default_lease_ttl) || Math.min(max, systemLease),
    max_lease_ttl: max,
    ...presentMountConfig(attributes),
    ...presentRetention(mount),
    description: mount.description,
    options: presentOptions(mount),
    ...presentMountFlags(attributes),
  };
}

/** Version 2 is the only one of the key-value store that can be mounted. */
const presentOptions = ({ attributes }: MountRow) => ({ ...Object(attributes.options), version: '2' });

/** The path of a mount as clients write it. */
export const withSlash = ({ path }: Pick<MountRow, 'path'>): string => `${path}/`;

export const presentByPath = (mounts: readonly MountRow[]) =>
  Object.fromEntries(mounts.map((mount) => [withSlash(mount), presentMount(mount)]));
