import { type Caller, requireGrant } from '@secrets/caller';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import { hashOfSettings } from '../../../rows/believed-settings.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import type { KubernetesContext } from '../kubernetes-context.ts';
import { kubernetesTables } from '../kubernetes-tables.ts';
import { findKubernetesConfig, upsertKubernetesConfig } from '../queries/configs.ts';
import {
  type KubernetesConfigBody,
  kubernetesConfigOf,
  kubernetesConfigWarnings,
} from './config-settings.ts';
import { encryptReviewer } from './reviewer-jwt.ts';

/**
 * Replaces the configuration of a mount, the token of its reviewer included, so that no stored one is sent to another host.
 * Drops its cached keys. Returns warnings. Throws `invalid` if it is not valid, and `not_found` if the mount was disabled in the
 * meantime.
 */
export async function saveKubernetesConfig(
  context: KubernetesContext,
  caller: Caller,
  mountId: string,
  body: KubernetesConfigBody,
): Promise<string[]> {
  const settings = kubernetesConfigOf(body);
  const sealedReviewer = encryptReviewer(context.keyRing, mountId, body.token_reviewer_jwt ?? '');
  await changingMount(context, mountId, async (tx) => {
    requireGrant(caller, (await findKubernetesConfig(tx, mountId)) !== undefined);
    const rowHash = hashOfSettings(context.rows, configKey(kubernetesTables.configs, mountId), settings);
    await upsertKubernetesConfig(tx, mountId, { settings, rowHash, sealedReviewer });
  });
  context.clusterKeys.forget(mountId);
  return kubernetesConfigWarnings(settings);
}
