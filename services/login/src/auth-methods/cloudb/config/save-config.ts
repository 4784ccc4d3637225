import { type Caller, requireGrant } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { invalid, notFound } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findConfig, upsertConfig } from '../queries/configs.ts';
import { forgetPasswords, type LeftPasswords } from '../queries/left-passwords.ts';
import { deleteRotation, recordSecret, setSchedule } from '../queries/rotations.ts';
import { leftPasswordWarnings } from '../rotation/left-passwords.ts';
import { isSameSchedule, nextRotation } from '../rotation/rotation-schedule.ts';
import { encryptClientSecret } from './client-secret.ts';
import { type ConfigPatch, configWarnings, mergedConfig, type StoredConfig } from './config-settings.ts';

/** A write or a merge patch of a configuration. */
interface ConfigWrite {
  body: ConfigPatch;
  /** A PATCH: `not_found` for a configuration that does not exist. */
  mustExist: boolean;
  /** Receives what the operator has to know or do. */
  warn: (sentence: string) => void;
}

/**
 * Merges a request into the stored configuration of a mount, and drops what is cached for it.
 * Throws `invalid` if the result is not valid or would send the stored secret elsewhere, `not_found` if the configuration must exist and does not, or if the mount
 * was disabled in the meantime.
 */
export async function saveConfig(
  context: CloudBContext,
  caller: Caller,
  mountId: string,
  { body, mustExist, warn }: ConfigWrite,
): Promise<void> {
  const [saved, left] = await changingMount(context, mountId, async (tx) => {
    const stored = await findConfig(tx, mountId);
    requireAllowed(caller, stored, mustExist);
    const merged = mergedConfig(stored, body);
    const secret = sealedSecret(context.keyRing, mountId, body.client_secret);
    const isSame = isSameApplication(stored, merged);
    if (secret === undefined && merged.hasSecret && !isSame) throw invalid(secretMoves);
    await upsertConfig(tx, mountId, merged.settings, secret);
    const forgotten = isSame && merged.hasSecret ? nothingLeft : await forgetPasswords(tx, mountId);
    await planRotation(tx, mountId, { before: stored, after: merged }, secret !== undefined || !isSame);
    return [merged, forgotten];
  });
  context.directory.forget(mountId);
  context.providers.forget(mountId);
  for (const sentence of [...configWarnings(saved), ...leftPasswordWarnings(left)]) warn(sentence);
}

/** Whoever may write the configuration, but does not know the secret, could send it to a tenant of their own. */
const secretMoves =
  'client_secret is required if tenant_id, client_id or environment changes: the stored one is not sent elsewhere';

const nothingLeft: LeftPasswords = { keyIds: [], attempts: [] };

/**
 * What was recorded of a secret or application that is no longer configured must not lead to a removal of passwords. A rotation that is
 * due, and has failed so far, remains due if the write does not concern it.
 */
async function planRotation(
  tx: Tx,
  mountId: string,
  { before, after }: { before: StoredConfig | undefined; after: StoredConfig },
  isNewSecret: boolean,
): Promise<void> {
  if (!after.hasSecret) return deleteRotation(tx, mountId);
  const { secretSince, scheduledAt } = await recordSecret(tx, mountId, isNewSecret);
  const isPlanned = !isNewSecret && before !== undefined && isSameSchedule(before.settings, after.settings);
  const next = isPlanned ? scheduledAt : nextRotation(after.settings, secretSince, new Date());
  await setSchedule(tx, mountId, next);
}

const isSameApplication = (before: StoredConfig | undefined, { settings }: StoredConfig): boolean =>
  before?.settings.client_id === settings.client_id &&
  before.settings.tenant_id === settings.tenant_id &&
  before.settings.environment === settings.environment;

function requireAllowed(caller: Caller, stored: StoredConfig | undefined, mustExist: boolean): void {
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
