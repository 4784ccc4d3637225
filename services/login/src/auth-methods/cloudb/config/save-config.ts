import { type Caller, requireGrant } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import { hashOfMerged } from '../../../rows/believed-settings.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { cloudBConfigKey, findConfigRow, upsertConfig } from '../queries/configs.ts';
import { forgetPasswords, type LeftPasswords } from '../queries/left-passwords.ts';
import { deleteRotation, recordSecret, setSchedule } from '../queries/rotations.ts';
import { leftPasswordWarnings } from '../rotation/left-passwords.ts';
import { isSameSchedule, nextRotation } from '../rotation/rotation-schedule.ts';
import {
  type ConfigPatch,
  type ConfigSettings,
  configFields,
  configWarnings,
  hasClientSecret,
  mergedConfig,
} from './config-settings.ts';
import { type ResolvedTenant, resolveTenant } from './resolve-tenant.ts';
import { sealedSecrets } from './secret-fields.ts';

/** A write or a merge patch of a configuration. */
interface ConfigWrite {
  body: ConfigPatch;
  /** A PATCH: `not_found` for a configuration that does not exist. */
  mustExist: boolean;
  /** Receives what the operator has to know or do. */
  warn: (sentence: string) => void;
}

/**
 * Merges a request into the stored configuration of a mount, and drops what is cached for it. Throws `invalid` if the
 * result is not valid or would send the stored secret elsewhere, `not_found` if the configuration must exist and does
 * not, or if the mount was disabled in the meantime, and what `resolveTenant` throws.
 */
export async function saveConfig(
  context: CloudBContext,
  caller: Caller,
  mountId: string,
  { body, mustExist, warn }: ConfigWrite,
): Promise<void> {
  const found = await findConfigRow(context, mountId);
  requireAllowed(caller, found !== undefined, mustExist);
  const tenant = await resolveTenant(context, found, body); // before the transaction, which must not wait for the directory
  const [saved, left] = await changingMount(context, mountId, async (tx) => {
    const stored = await findConfigRow({ ...context, db: tx }, mountId);
    requireAllowed(caller, stored !== undefined, mustExist);
    const merged = mergedConfig(stored, body, tenant && { domain: tenant.domain, id: tenant.id });
    const { settings } = merged;
    requireSameDirectory(tenant, settings);
    const before = stored && ({ ...configFields.defaults, ...stored.settings } as ConfigSettings);
    const isSame = isSameApplication(before, settings);
    const kept = merged.secrets.filter((field) => body[field] === undefined);
    if (kept.length > 0 && !isSame) throw invalid(secretMoves(kept));
    const rowHash = hashOfMerged(context.rows, cloudBConfigKey(mountId), stored, settings);
    await upsertConfig(tx, mountId, { settings, rowHash }, sealedSecrets(context.keyRing, mountId, body));
    const hasSecret = hasClientSecret(merged);
    const forgotten = isSame && hasSecret ? nothingLeft : await forgetPasswords(tx, mountId);
    if (!hasSecret) await deleteRotation(tx, mountId);
    else
      await planRotation(
        tx,
        mountId,
        { before, after: settings, now: new Date(context.db.now()) },
        body.client_secret !== undefined || !isSame,
      );
    return [merged, forgotten];
  });
  context.directory.forget(mountId);
  context.providers.forget(mountId);
  for (const sentence of [...configWarnings(saved), ...leftPasswordWarnings(left)]) warn(sentence);
}

function requireSameDirectory(tenant: ResolvedTenant | undefined, { environment }: ConfigSettings): void {
  if (tenant !== undefined && tenant.environment !== environment)
    throw new Problem('unavailable', 'another operation is changing the same object; try again');
}

/** Whoever may write the configuration, but does not know the secret, could send it to a tenant of their own. */
const secretMoves = (fields: readonly string[]): string =>
  `${fields.join(' and ')} is required if tenant_id, client_id or environment changes: the stored one is not sent elsewhere`;

const nothingLeft: LeftPasswords = { keyIds: [], attempts: [] };

/**
 * Ensures that records of a secret or application that is no longer configured do not lead to a removal of passwords. A
 * rotation that is due, and has failed so far, remains due unless the write affects it.
 */
async function planRotation(
  tx: Tx,
  mountId: string,
  { before, after, now }: { before: ConfigSettings | undefined; after: ConfigSettings; now: Date },
  isNewSecret: boolean,
): Promise<void> {
  const { secretSince, scheduledAt } = await recordSecret(tx, mountId, isNewSecret);
  const isPlanned = !isNewSecret && before !== undefined && isSameSchedule(before, after);
  const next = isPlanned ? scheduledAt : nextRotation(after, secretSince, now);
  await setSchedule(tx, mountId, next);
}

const isSameApplication = (before: ConfigSettings | undefined, after: ConfigSettings): boolean =>
  before?.client_id === after.client_id &&
  before.tenant_id === after.tenant_id &&
  before.environment === after.environment;

function requireAllowed(caller: Caller, exists: boolean, mustExist: boolean): void {
  if (!exists && mustExist) throw notFound();
  if (!mustExist) requireGrant(caller, exists); // of a PATCH, the gateway has checked `patch`
}
