import { invalid } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type AuthMountRow,
  type LeaseLimits,
  type MountSettings,
  updateAuthMount,
} from '../queries/auth-mounts.ts';
import { systemTtlSeconds } from '../tokens/token-lifetime.ts';
import { changingMount } from './changing-mount.ts';

/**
 * Changes the settings of an auth mount; absent ones stay as they are (docs/conventions.md#29-auth-mounts). Applies to the next login and the next
 * renewal. Throws `invalid` if the limits are, and `not_found` if the mount was disabled in the meantime.
 */
export async function tuneAuthMount(
  context: DbContext,
  { id }: Pick<AuthMountRow, 'id'>,
  change: { [Name in keyof MountSettings]?: MountSettings[Name] | undefined },
): Promise<void> {
  await changingMount(context, id, async (tx, mount) => {
    const settings = {
      description: change.description ?? mount.description,
      defaultLeaseSeconds: change.defaultLeaseSeconds ?? mount.defaultLeaseSeconds,
      maxLeaseSeconds: change.maxLeaseSeconds ?? mount.maxLeaseSeconds,
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
