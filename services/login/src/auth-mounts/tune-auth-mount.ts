import { changedAttributes, invalid, type MountAttributesChange } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type AuthMountRow,
  type LeaseLimits,
  type MountSettings,
  updateAuthMount,
} from '../queries/auth-mounts.ts';
import { systemTtlSeconds } from '../tokens/token-lifetime.ts';
import { changingMount } from './changing-mount.ts';

/** Absent settings keep their values; a null among the attributes resets one. */
type AuthMountChange = {
  [Name in keyof Omit<MountSettings, 'attributes'>]?: MountSettings[Name] | undefined;
} & {
  attributes: MountAttributesChange;
};

/**
 * Changes the settings of an auth mount; absent ones stay as they are (docs/conventions/access.md#auth-mounts). Applies
 * to the next login and the next renewal. Throws `invalid` if the limits are, and `not_found` if the mount was disabled
 * in the meantime.
 */
export async function tuneAuthMount(
  context: DbContext,
  { id }: Pick<AuthMountRow, 'id'>,
  change: AuthMountChange,
): Promise<void> {
  await changingMount(context, id, async (tx, mount) => {
    const settings = {
      description: change.description ?? mount.description,
      defaultLeaseSeconds: change.defaultLeaseSeconds ?? mount.defaultLeaseSeconds,
      maxLeaseSeconds: change.maxLeaseSeconds ?? mount.maxLeaseSeconds,
      attributes: changedAttributes(mount.attributes, change.attributes),
    };
    requireLimits(settings);
    await updateAuthMount(tx, id, settings);
  });
}

/** Throws `invalid` if a limit exceeds the one above it. */
export function requireLimits({ defaultLeaseSeconds, maxLeaseSeconds }: LeaseLimits): void {
  if (maxLeaseSeconds > systemTtlSeconds) throw invalid('max_lease_ttl: must not exceed 768h');
  if (defaultLeaseSeconds > (maxLeaseSeconds || systemTtlSeconds))
    throw invalid('default_lease_ttl: must not exceed max_lease_ttl');
}
