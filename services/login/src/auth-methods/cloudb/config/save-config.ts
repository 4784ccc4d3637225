import { type Caller, requireGrant } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { type ConfigRow, findConfig, upsertConfig } from '../queries/configs.ts';
import { encryptClientSecret } from './client-secret.ts';
import { type ConfigPatch, type ConfigSettings, mergedConfig } from './config-settings.ts';

/** A write or a merge patch of a configuration. */
interface ConfigWrite {
  body: ConfigPatch;
  /** A PATCH: `not_found` for a configuration that does not exist. */
  mustExist: boolean;
}

/**
 * Merges a request into the stored configuration of a mount, and drops what is cached for the configurations before and after.
 * Throws `invalid` if the result is not valid, `not_found` if the configuration must exist and does not, or if the mount
 * was disabled in the meantime.
 */
export async function saveConfig(
  context: CloudBContext,
  caller: Caller,
  mountId: string,
  { body, mustExist }: ConfigWrite,
): Promise<ConfigSettings> {
  const [before, settings] = await changingMount(context, mountId, async (tx) => {
    const stored = await findConfig(tx, mountId);
    requireAllowed(caller, stored, mustExist);
    const merged = mergedConfig(stored, body);
    await upsertConfig(tx, mountId, merged, sealedSecret(context.keyRing, mountId, body.client_secret));
    return [stored, merged];
  });
  if (before !== undefined) context.directory.forget(before.settings);
  context.directory.forget(settings);
  context.providers.forget(mountId);
  return settings;
}

function requireAllowed(caller: Caller, stored: ConfigRow | undefined, mustExist: boolean): void {
  if (stored === undefined && mustExist) throw notFound();
  if (!mustExist) requireGrant(caller, stored !== undefined); // of a PATCH, the gateway has checked `patch`
}

/** The encrypted secret; null deletes the stored one, undefined keeps it. */
function sealedSecret(
  keyRing: KeyRing,
  mountId: string,
  secret: string | null | undefined,
): Buffer | null | undefined {
  if (secret === undefined) return undefined;
  return secret === '' || secret === null ? null : encryptClientSecret(keyRing, mountId, secret);
}
